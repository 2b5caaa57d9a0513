// All ops as a table that sorts and filters. Only the rows in sight are in the document, so that thousands stay fluent.
const ROW_PIXELS = 26, BEYOND = 4; // height of a row as the style has it; rows kept above and below those in sight

class OpsTable {
  constructor(holder) {
    this.holder = holder;
    this.marks = "ops";
    this.waiting = false;
    this.selected = null;
    this.body = holder.querySelector("tbody");
    this.columns = columnsOfOps();
    this.sorted = { column: this.columns[0], down: false };
    const heads = document.createElement("tr");
    heads.append(...this.columns.map((column) => this.head(column)));
    holder.querySelector("thead").append(heads);
    holder.addEventListener("scroll", () => this.redraw());
    holder.addEventListener("keydown", (event) => this.keyed(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-row]");
      if (row) this.select(Number(row.dataset.row));
    });
    new ResizeObserver(() => this.redraw()).observe(holder);
    this.order();
  }

  head(column) {
    const head = document.createElement("th"), button = document.createElement("button");
    button.type = "button";
    button.textContent = column.words;
    button.addEventListener("click", () => {
      const again = this.sorted.column === column;
      this.sorted = { column, down: again ? !this.sorted.down : column.number && column.name !== "line" };
      this.order();
    });
    head.scope = "col";
    head.className = `of-${column.name}${column.number ? " number" : ""}`;
    head.append(button);
    column.head = head;
    return head;
  }

  // Brings the rows that were looked for into the order that was asked for; what has no value stands last.
  order() {
    const { column, down } = this.sorted, sign = down ? -1 : 1, count = content.ops.op.length;
    const rows = looked.rows ? [...looked.rows] : Array.from({ length: count }, (_, row) => row);
    const compare = (one, other) => {
      const a = column.value(one), b = column.value(other);
      if (a === null || b === null) return (a === null) - (b === null);
      return sign * (a < b ? -1 : a > b ? 1 : 0);
    };
    this.rows = rows.sort((one, other) => compare(one, other) || one - other);
    this.columns.forEach(({ head }) => head.removeAttribute("aria-sort"));
    column.head.setAttribute("aria-sort", down ? "descending" : "ascending");
    this.holder.querySelector("table").setAttribute("aria-rowcount", String(this.rows.length + 1));
    const sum = (name) => this.rows.reduce((total, row) => total + (content.ops[name][row] || 0), 0);
    const all = content.ops.kernel_us.reduce((total, each) => total + (each || 0), 0) || 1, kernel = sum("kernel_us");
    const share = shown(Number((100 * kernel / all).toFixed(1)), "%");
    document.getElementById("ops-count").textContent = `${shown(this.rows.length)} of ${shown(count)} ops, kernel ${shown(Number(kernel.toFixed(3)), "us")} (${share} of all)`;
    this.holder.scrollTop = 0;
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.fill();
    });
  }

  // Rows that were in sight before are taken as they are.
  fill() {
    const first = Math.max(Math.floor(this.holder.scrollTop / ROW_PIXELS) - BEYOND, 0);
    const last = Math.min(first + Math.ceil(this.holder.clientHeight / ROW_PIXELS) + 2 * BEYOND, this.rows.length);
    const before = this.lines || new Map();
    this.lines = new Map();
    this.rows.slice(first, last).forEach((row, place) => {
      const line = before.get(row) || this.line(row);
      line.setAttribute("aria-rowindex", String(first + place + 2));
      line.classList.toggle("selected", row === this.selected);
      this.lines.set(row, line);
    });
    this.body.replaceChildren(this.space(first), ...this.lines.values(), this.space(this.rows.length - last));
  }

  line(row) {
    const line = document.createElement("tr");
    line.dataset.row = String(row);
    line.append(...this.columns.map((column) => {
      const cellOfRow = document.createElement("td"), value = column.value(row);
      cellOfRow.textContent = value === null ? "-" : column.number && column.name !== "line" ? shown(value, "", column.digits) : String(value);
      if (column.number) cellOfRow.className = "number";
      else cellOfRow.title = cellOfRow.textContent;
      return cellOfRow;
    }));
    return line;
  }

  space(rows) {
    const line = document.createElement("tr"), inside = document.createElement("td");
    line.className = "space";
    inside.colSpan = this.columns.length;
    inside.style.height = `${rows * ROW_PIXELS}px`;
    line.append(inside);
    return line;
  }

  keyed(event) {
    if (event.target !== this.holder || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !this.rows.length) return;
    event.preventDefault();
    const at = this.rows.indexOf(this.selected);
    this.select(this.rows[at < 0 ? 0 : Math.min(Math.max(at + by, 0), this.rows.length - 1)]);
  }

  select(row) {
    this.show(row);
    selectElsewhere(this, row);
  }

  show(row) {
    this.selected = row;
    const top = this.rows.indexOf(row) * ROW_PIXELS, shownTo = this.holder.scrollTop + this.holder.clientHeight - 2 * ROW_PIXELS;
    if (top >= 0 && (top < this.holder.scrollTop || top > shownTo)) this.holder.scrollTop = Math.max(top - 3 * ROW_PIXELS, 0);
    this.redraw();
  }

  has() {
    return true;
  }
}

// The columns, those alone of which some op has a value.
function columnsOfOps() {
  const ops = content.ops, roofline = content.rooflines;
  const rounded = (value, digits) => (value === null ? null : Number(value.toFixed(digits)));
  const times100 = (column) => (row) => { const share = cell(column, row); return share === null ? null : rounded(share * 100, 2); };
  const texts = (column) => (row) => cell(column, row);
  const columns = [
    { name: "line", words: "line", number: true, value: (row) => ops.op[row] },
    { name: "name", words: "op", value: nameOfOp },
    { name: "layer", words: "layer", number: true, value: texts(content.layer) },
    { name: "stage", words: "stage", value: texts(content.stage) },
    { name: "device", words: "device", number: true, value: (row) => ops.device[row] },
    { name: "kernel", words: "kernel [us]", number: true, digits: 2, value: (row) => ops.kernel_us[row] },
    { name: "share", words: "share [%]", number: true, digits: 2, value: times100(ops.share) },
    { name: "gap", words: "gap [us]", number: true, digits: 2, value: (row) => ops.gap_us[row] },
    { name: "cores", words: "cores", number: true, value: (row) => ops.cores[row] },
    { name: "bound", words: "bound", value: texts(ops.bound) },
    { name: "efficiency", words: "of roofline [%]", number: true, digits: 2, value: times100(roofline.efficiency) },
    { name: "dram", words: "DRAM [GB/s]", number: true, digits: 1, value: texts(roofline.achieved_dram_gb_s) },
    { name: "fidelity", words: "fidelity", value: texts(ops.fidelity) },
    { name: "shapes", words: "shapes", value: shapesOf },
  ];
  const devices = new Set(ops.device);
  return columns.filter(({ name, value }) => (name === "device" ? devices.size > 1 : ops.op.some((_, row) => value(row) !== null)));
}
