// Draws the answer that the host brought: a budget, a memory summary or a comparison. More is read through the host.
const MOST_PAGES = 25; // of list_ops, before a reader must ask for more
const KINDS = 20; // of op, drawn before and after: as many as in a report

function say(words) {
  document.getElementById("verdict").textContent = words;
}

function note(...words) {
  document.getElementById("more").replaceChildren(...words);
}

function showResult(result) {
  const answer = result.structuredContent;
  if (result.isError || !answer) return say(textOf(result) || "No answer.");
  if (answer.ledger) return showBudget(answer);
  if (answer.l1_peak) return showMemory(answer);
  if (answer.groups) return showComparison(answer);
  return say("There is no picture of this answer.");
}

function textOf(result) {
  return (result.content || []).map((block) => block.text || "").join(" ");
}

// Rows of a table: texts, and bars as elements.
function fill(id, rows) {
  document.getElementById(id).replaceChildren(
    ...rows.map((cells) => {
      const row = document.createElement("tr");
      row.append(...cells.map((inside) => {
        const cellOfRow = document.createElement("td");
        cellOfRow.append(inside === null || inside === undefined ? "-" : inside);
        return cellOfRow;
      }));
      return row;
    }),
  );
}

function reveal(...ids) {
  ids.forEach((id) => { document.getElementById(id).hidden = false; });
}

// One bar, or several above each other, whose longest may be `longest`.
function bars(longest, ...each) {
  const holder = document.createElement("div");
  each.forEach(([value, kind]) => {
    const bar = document.createElement("div");
    bar.className = `bar-of ${kind}`;
    bar.style.width = `${(value / (longest || 1)) * 100}%`;
    holder.append(bar);
  });
  return holder;
}

function percent(share) {
  return shown(Math.round(share * 1e6) / 1e4, "%");
}

function showBudget(budget) {
  say(`${shown(budget.window_us, "us")}, ${budget.verdict.replace("_", " ")}: ${budget.why}`);
  const rows = budget.ledger.rows, longest = Math.max(...rows.map((row) => row[1]), 0);
  fill("ledger", rows.map(([what, time, share]) => {
    const kind = what === "gaps" || what === "roofline" ? what : "ledger";
    return [what.replace("_", " "), bars(longest, [time, kind]), shown(time, "us"), percent(share)];
  }));
  reveal("budget");
  if (canRead) return read("window", "iteration", "start_signpost", "end_signpost").then(showWindow, noPictures);
  if (canCall) return opsByPages(budget);
  return note("This host lets no app read resources or call tools, so there is no timeline and no roofline.");
}

function showWindow(window_) {
  Object.assign(content, window_);
  const ops = content.ops, count = ops.op.length;
  if (!count) return note("This window has no ops.");
  reveal("time", "bounds");
  plots.timeline = new Timeline(document.getElementById("timeline"));
  plots.roofline = new Scatter(document.getElementById("roofline"));
  const whose = content.window_rows > count ? `${shown(count)} of ${shown(content.window_rows)} ops are shown, all from device ${content.device}.` : `${shown(count)} ops.`;
  const cold = content.warm ? "" : " This window is not warm: its gaps are compiling and loading, and are left out.";
  document.getElementById("part").textContent = whose + cold;
}

function showMemory(memory) {
  const peak = memory.l1_peak, only = asked.operation !== undefined && asked.operation !== null;
  const where = `operation ${peak.operation}, ${peak.name}${peak.line ? `, ${peak.line}` : ""}`;
  const floor = memory.why ? ` At least so much: ${memory.why}.` : "";
  say(`${only ? "L1" : "L1 peak"} ${shown(peak.bytes_per_bank, "B")} of a bank, at ${where}; capacity ${shown(peak.capacity_bytes, "B")}.${floor}`);
  const live = memory.live.rows.map((row) => Object.fromEntries(memory.live.columns.map((name, place) => [name, row[place]])));
  const parts = [["circular buffers", peak.circular_buffers_bytes, "dram", ""], ...live.map((each) => [
    `tensor ${each.tensor}, ${each.kind}`, each.bytes_per_bank, "roofline", [each.shape, each.line].filter(Boolean).join(" "),
  ])];
  const longest = Math.max(...parts.map((part) => part[1]), 0);
  fill("live", parts.map(([what, size, kind, words]) => [what, bars(longest, [size, kind]), shown(size, "B"), words]));
  reveal("memory");
  document.getElementById("levels").hidden = true;
  if (memory.more_live) note(`${shown(memory.more_live)} smaller tensors are not listed.`);
  if (!canRead) return note("This host lets no app read resources, so L1 over the operations is not drawn.");
  return read("levels").then(({ levels }) => {
    if (!levels || !levels.operation.length) return;
    Object.assign(content, { levels, memory, marked: only ? "" : "peak" });
    reveal("levels");
    plots.levels = new Levels(document.getElementById("levels"));
  }, noPictures);
}

function showComparison(comparison) {
  const { before, after } = comparison.kernel_ms;
  say(`${comparison.verdict.replace("_", " ")}: ${comparison.why}. Kernel time ${shown(before, "ms")} before, ${shown(after, "ms")} after.`);
  const ranked = [...comparison.groups.rows].sort((one, other) => Math.abs(other[3]) - Math.abs(one[3])).slice(0, KINDS);
  const longest = Math.max(...ranked.map((row) => Math.max(row[1], row[2])), 0);
  fill("groups", ranked.map(([name, old, fresh, change]) => [
    name, bars(longest, [old, "ledger"], [fresh, "roofline"]), shown(old, "us"), shown(fresh, "us"), `${change > 0 ? "+" : ""}${shown(change, "us")}`,
  ]));
  reveal("against");
  const doubts = comparison.suspicious ? comparison.suspicious.rows.map((row) => `${row[1]}: ${row[2]}.`) : [];
  note(doubts.join(" "));
}

function noPictures(error) {
  note(`No timeline, roofline or levels: ${error.message}`);
}

// What a picture is drawn from, as the server has it under ttnn://pictures/.
async function read(picture, ...names) {
  const chosen = ["run", ...names].filter((name) => asked[name] !== undefined && asked[name] !== null);
  const query = chosen.map((name) => `${name}=${encodeURIComponent(asked[name])}`).join("&");
  const result = await request("resources/read", { uri: `ttnn://pictures/${picture}${query ? `?${query}` : ""}` });
  return JSON.parse(result.contents[0].text);
}

// For a host that reads no resources for an app: the ops of a timeline, page by page, as it passes them on from list_ops.
async function opsByPages(budget) {
  const chosen = Object.fromEntries(["run", "iteration", "start_signpost", "end_signpost"].filter((name) => name in asked).map((name) => [name, asked[name]]));
  const rows = [];
  let columns = null, cursor = null, pages = 0;
  const load = async () => {
    do {
      const call = { name: "list_ops", arguments: { ...chosen, sort: "order", device: budget.device, limit: 200, ...(cursor ? { cursor } : {}) } };
      const result = await request("tools/call", call);
      if (result.isError || !result.structuredContent) throw new Error(textOf(result));
      const answer = result.structuredContent;
      columns = answer.ops.columns;
      rows.push(...answer.ops.rows);
      cursor = answer.next_cursor || null;
      pages += 1;
    } while (cursor && pages % MOST_PAGES);
    showTimeline(budget, columns, rows, cursor ? load : null);
  };
  await load().catch((error) => note(`No timeline: ${error.message}`));
}

function showTimeline(budget, columns, rows, more) {
  content.card = {};
  content.warm = budget.window.warm;
  content.ops = Object.fromEntries(columns.map((name, place) => [name, rows.map((row) => row[place])]));
  const figure = document.getElementById("timeline"), fresh = figure.cloneNode(true); // without the listeners of before
  figure.replaceWith(fresh);
  reveal("time");
  plots.timeline = new Timeline(fresh);
  note(`${shown(rows.length)} ops of the device that the others wait for${more ? ", the first of them. " : "."} This host lets no app read resources, so there is no roofline.`);
  if (!more) return;
  const button = document.createElement("button");
  button.textContent = "More ops";
  button.addEventListener("click", () => { button.disabled = true; more(); });
  document.getElementById("more").append(button);
}
