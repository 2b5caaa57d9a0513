// Looks for ops by what stands in their row.
function lookFor(text) {
  looked.rows = rowsWith(text);
  looked.flags = looked.rows ? new Uint8Array(content.ops.op.length) : null;
  if (looked.rows) looked.rows.forEach((row) => { looked.flags[row] = 1; });
}

// Rows that hold every word; a number alone is a line, "layer 3" is layer 3 and not 30.
function rowsWith(text) {
  const words = text.toLowerCase().replace(/\b(layer|line|device) +(\d+)\b/g, "$1:$2 ").split(" ").filter(Boolean).map((word) => (word.includes(":") ? `${word} ` : word));
  if (!words.length) return null;
  const line = words.length === 1 && /^\d+$/.test(words[0]) ? content.ops.op.indexOf(Number(words[0])) : -1;
  if (line >= 0) return [line];
  const rows = [];
  textsOfOps().forEach((each, row) => { if (words.every((word) => each.includes(word))) rows.push(row); });
  return rows;
}

let textsOnce = null;
function textsOfOps() {
  if (textsOnce) return textsOnce;
  const ops = content.ops;
  textsOnce = ops.op.map((line, row) => {
    const named = [cell(ops.op_code, row), shapesOf(row), cell(ops.bound, row) || NOT_MODELLED, cell(ops.fidelity, row), cell(content.stage, row)];
    const numbered = `line:${line} device:${ops.device[row]} layer:${cell(content.layer, row)} `;
    return `${named.filter(Boolean).join(" ")} ${numbered}`.toLowerCase();
  });
  return textsOnce;
}
