// Talks to the host of an MCP App (extension io.modelcontextprotocol/ui, 2026-01-26): JSON-RPC by postMessage.
const PROTOCOL = "2026-01-26";
const MOST_PAGES = 25; // of list_ops, before a reader must ask for more
const waiting = new Map();
let asked = {}, canCall = false, nextId = 1;

function send(message) {
  window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
}

function request(method, params) {
  const id = nextId++;
  send({ id, method, params });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const notices = {
  "ui/notifications/tool-input": (params) => { asked = params.arguments || {}; },
  "ui/notifications/tool-result": (params) => showResult(params),
  "ui/notifications/tool-cancelled": () => say("The call was cancelled."),
  "ui/notifications/host-context-changed": (params) => follow(params),
};

window.addEventListener("message", (event) => {
  if (event.source !== window.parent || !event.data || event.data.jsonrpc !== "2.0") return;
  const { id, method, params, result, error } = event.data;
  if (method && id !== undefined) send({ id, result: {} }); // ping, ui/resource-teardown: nothing is kept here
  else if (method) (notices[method] || (() => {}))(params || {});
  else if (waiting.has(id)) {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(error.message));
    else resolve(result);
  }
});

function follow(context) {
  if (context.theme) document.documentElement.dataset.theme = context.theme;
  Object.values(plots).forEach((plot) => plot.redraw());
}

function say(words) {
  document.getElementById("verdict").textContent = words;
}

function showResult(result) {
  const budget = result.structuredContent;
  if (result.isError || !budget) return say((result.content || []).map((block) => block.text || "").join(" ") || "No answer.");
  say(`${shown(budget.window_us, "us")}, ${budget.verdict.replace("_", " ")}: ${budget.why}`);
  drawLedger(budget.ledger.rows);
  if (canCall) return timelineOf(budget);
  return document.getElementById("more").replaceChildren("This host lets no app call tools, so there is no timeline.");
}

function drawLedger(rows) {
  const longest = Math.max(...rows.map((row) => row[1]), 1e-9);
  document.getElementById("ledger").replaceChildren(
    ...rows.map(([what, time, share]) => {
      const row = document.createElement("tr"), bar = document.createElement("div");
      bar.className = `bar-of ${what === "gaps" || what === "roofline" ? what : "ledger"}`;
      bar.style.width = `${(time / longest) * 100}%`;
      const cells = [what.replace("_", " "), bar, shown(time, "us"), shown(Math.round(share * 1e6) / 1e4, "%")];
      row.append(...cells.map((inside) => {
        const cellOfRow = document.createElement("td");
        cellOfRow.append(inside);
        return cellOfRow;
      }));
      return row;
    }),
  );
}

// All ops of the window, page by page, as the host passes them on from list_ops.
async function timelineOf(budget) {
  const window_ = Object.fromEntries(["run", "iteration", "start_signpost", "end_signpost"].filter((name) => name in asked).map((name) => [name, asked[name]]));
  const rows = [];
  let columns = null, cursor = null, pages = 0;
  const load = async () => {
    do {
      const call = { name: "list_ops", arguments: { ...window_, sort: "order", device: budget.device, limit: 200, ...(cursor ? { cursor } : {}) } };
      const result = await request("tools/call", call);
      if (result.isError || !result.structuredContent) throw new Error((result.content || []).map((block) => block.text).join(" "));
      const answer = result.structuredContent;
      columns = answer.ops.columns;
      rows.push(...answer.ops.rows);
      cursor = answer.next_cursor || null;
      pages += 1;
    } while (cursor && pages % MOST_PAGES);
    showTimeline(budget, columns, rows, cursor ? load : null);
  };
  await load().catch((error) => document.getElementById("more").replaceChildren(`No timeline: ${error.message}`));
}

function showTimeline(budget, columns, rows, more) {
  content.card = {};
  content.warm = budget.window.warm;
  content.ops = Object.fromEntries(columns.map((name, place) => [name, rows.map((row) => row[place])]));
  const figure = document.getElementById("timeline"), fresh = figure.cloneNode(true); // without the listeners of before
  figure.replaceWith(fresh);
  fresh.hidden = false;
  plots.timeline = new Timeline(fresh);
  const note = document.getElementById("more");
  note.replaceChildren(`${shown(rows.length)} ops of the device that the others wait for${more ? ", the first of them. " : "."}`);
  if (!more) return;
  const button = document.createElement("button");
  button.textContent = "More ops";
  button.addEventListener("click", () => { button.disabled = true; more(); });
  note.append(button);
}

new ResizeObserver(() => {
  const { scrollWidth: width, scrollHeight: height } = document.documentElement;
  send({ method: "ui/notifications/size-changed", params: { width, height } });
}).observe(document.body);

request("ui/initialize", {
  protocolVersion: PROTOCOL,
  appInfo: { name: "ttnn-mcp", version: document.documentElement.dataset.version },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}).then((host) => {
  canCall = Boolean(host.hostCapabilities && host.hostCapabilities.serverTools);
  follow(host.hostContext || {});
  send({ method: "ui/notifications/initialized", params: {} });
});
