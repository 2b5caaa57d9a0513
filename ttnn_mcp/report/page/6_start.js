const figures = { timeline: Timeline, roofline: Scatter, levels: Levels };
const plots = {};
for (const [id, Kind] of Object.entries(figures)) {
  const figure = document.getElementById(id);
  if (figure) plots[id] = new Kind(figure);
}

// "Show line 59" beside a finding: the op is selected in the timeline.
document.querySelectorAll("button[data-line]").forEach((button) => {
  const row = content.ops ? content.ops.op.indexOf(Number(button.dataset.line)) : -1;
  if (row < 0) {
    button.hidden = true;
    return;
  }
  button.addEventListener("click", () => {
    plots.timeline.select(row);
    plots.timeline.canvas.focus();
    plots.timeline.figure.scrollIntoView({ block: "center" });
  });
});
