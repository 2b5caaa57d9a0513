// Talks to the host of an MCP App (extension io.modelcontextprotocol/ui, 2026-01-26): JSON-RPC by postMessage.
const PROTOCOL = "2026-01-26";
const waiting = new Map();
let asked = {}, canCall = false, canRead = false, nextId = 1;

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

new ResizeObserver(() => {
  const { width, height } = document.body.getBoundingClientRect(); // the document is never lower than its frame
  send({ method: "ui/notifications/size-changed", params: { width: Math.ceil(width), height: Math.ceil(height) } });
}).observe(document.body);

request("ui/initialize", {
  protocolVersion: PROTOCOL,
  appInfo: { name: "ttnn-mcp", version: document.documentElement.dataset.version },
  appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
}).then((host) => {
  const able = host.hostCapabilities || {};
  [canCall, canRead] = [Boolean(able.serverTools), Boolean(able.serverResources)];
  follow(host.hostContext || {});
  send({ method: "ui/notifications/initialized", params: {} });
});
