const figures = { timeline: Timeline, roofline: Scatter, levels: content.spans ? Addresses : Levels, dram: Dram };
const plots = {};
for (const [id, Kind] of Object.entries(figures)) {
  const figure = document.getElementById(id);
  if (figure) plots[id] = new Kind(figure);
}
const opsHolder = document.getElementById("ops-rows");
if (opsHolder) plots.ops = new OpsTable(opsHolder);

// What is looked for is shown in the timeline, and alone in the table. Enter goes from one to the next.
const boxes = [...document.querySelectorAll("input.find")];
function look(text) {
  lookFor(text);
  boxes.forEach((box) => {
    if (box.value !== text) box.value = text;
    box.parentElement.querySelector(".found").textContent = looked.rows ? ` ${shown(looked.rows.length)} found; Enter goes to the next` : "";
  });
  plots.timeline.redraw();
  plots.ops.order();
}
function goToNext(by) {
  const rows = looked.rows || [];
  if (!rows.length) return;
  const at = rows.indexOf(plots.timeline.selected);
  plots.timeline.select(rows[at < 0 ? 0 : (at + by + rows.length) % rows.length]);
  plots.timeline.approach();
}
boxes.forEach((box) => {
  box.addEventListener("input", () => look(box.value));
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") goToNext(event.shiftKey ? -1 : 1); });
});

// A kind of op leads to its ops, an edit of the plan to its first finding.
document.querySelectorAll("button[data-find]").forEach((button) => {
  button.disabled = !plots.ops;
  button.addEventListener("click", () => {
    look(button.dataset.find);
    document.getElementById("ops").scrollIntoView({ block: "start" });
    opsHolder.focus({ preventScroll: true });
  });
});
document.querySelectorAll("button[data-edit]").forEach((button) => {
  const finding = [...document.querySelectorAll("details[data-of]")].find((each) => each.dataset.of === button.dataset.edit);
  button.disabled = !finding;
  button.addEventListener("click", () => {
    finding.open = true;
    finding.querySelector("summary").focus();
    finding.scrollIntoView({ block: "start" });
  });
});

// "Show line 59" beside a finding: the op is selected in all pictures, and the timeline shows it with its neighbours.
document.querySelectorAll("button[data-line]").forEach((button) => {
  const row = content.ops ? content.ops.op.indexOf(Number(button.dataset.line)) : -1;
  if (row < 0) {
    button.hidden = true;
    return;
  }
  button.addEventListener("click", () => {
    plots.timeline.select(row);
    plots.timeline.approach();
    plots.timeline.canvas.focus();
    plots.timeline.figure.scrollIntoView({ block: "center" });
  });
});
