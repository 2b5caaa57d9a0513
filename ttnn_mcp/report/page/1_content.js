"use strict";
// What the page shows, as the tools answered it. A column of texts is {words, at}: each word once, a place per row.
const holder = document.getElementById("content");
const content = holder ? JSON.parse(holder.textContent) : {}; // in a chat the host brings it

const NOT_MODELLED = "not modelled";
const BOUNDS = ["compute", "dram", "l1", "overhead", NOT_MODELLED];

// What was looked for: rows in their order, and a flag for each op; none of both where nothing was.
const looked = { rows: null, flags: null };

function cell(column, row) {
  if (!column) return null;
  if (Array.isArray(column)) return column[row];
  const place = column.at[row];
  return place === null ? null : column.words[place];
}

function shown(number, unit, digits = 0) {
  if (number === null || number === undefined) return "not measured";
  const written = number.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits || 6 });
  return unit ? `${written} ${unit}` : written;
}

// A shape as list_ops writes it: "as above" stands for the row before, which another device ran.
function shapesOf(row) {
  let at = row;
  while (at > 0 && cell(content.ops.shapes, at) === "as above") at -= 1;
  return cell(content.ops.shapes, at);
}

// As the page writes a kind of op: "Matmul" for MatmulDeviceOperation.
function nameOfOp(row) {
  return cell(content.ops.op_code, row).replace(/(.)DeviceOperation$/, "$1");
}

function sentenceOfOp(row) {
  const ops = content.ops, roofline = content.rooflines || {};
  const parts = [
    `line ${ops.op[row]}: ${cell(ops.op_code, row)}`,
    `device ${ops.device[row]}`,
    `kernel ${shown(ops.kernel_us[row], "us")}`,
    `gap before ${shown(ops.gap_us[row], "us")}`,
    `${shown(ops.cores[row])} cores`,
    `bound: ${cell(ops.bound, row) || NOT_MODELLED}`,
  ];
  const efficiency = cell(roofline.efficiency, row), rate = cell(roofline.achieved_dram_gb_s, row);
  if (efficiency !== null) parts.push(`efficiency ${shown(Math.round(efficiency * 1e6) / 1e4, "%")} of its roofline`);
  if (rate !== null) parts.push(`DRAM ${shown(rate, "GB/s")}`);
  if (cell(ops.fidelity, row)) parts.push(cell(ops.fidelity, row));
  if (cell(content.stage, row)) parts.push(`stage ${cell(content.stage, row)}`);
  if (cell(content.layer, row)) parts.push(`layer ${cell(content.layer, row)}`);
  if (cell(roofline.why, row)) parts.push(cell(roofline.why, row));
  return `${parts.join(" · ")} · ${shapesOf(row)}`;
}

// The same in lines, for what stands beside the pointer.
function briefOfOp(row) {
  return sentenceOfOp(row).split(" · ").reduce((lines, part, place) => lines + (place % 3 || !place ? " · " : "\n") + part).replace(" · ", "\n");
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const named = {};
  for (const name of ["text", "quiet", "line", "ground", "panel", "accent", "gap", "bar", "warn", "bad"]) {
    named[name] = style.getPropertyValue(`--${name}`).trim();
  }
  BOUNDS.forEach((bound) => {
    named[bound] = style.getPropertyValue(`--${bound.replace(" ", "-")}`).trim();
  });
  return named;
}
