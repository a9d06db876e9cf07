// The table below an element of id "filters" can be filtered, and sorted by its columns.
document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("filters");
  const table = place && [...document.querySelectorAll(".content table")].find(
    (each) => place.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING);
  if (!table) return;
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows];
  const text = (row, column) => row.cells[column].textContent.trim();
  const wanted = new Map();
  const count = document.createElement("p");
  count.setAttribute("aria-live", "polite");

  const show = () => {
    let shown = 0;
    for (const row of rows) {
      const fits = [...wanted].every(([column, value]) =>
        column === 0 ? text(row, 0).includes(value) : !value || text(row, column) === value);
      row.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length}`;
  };

  const field = (kind, column) => {
    const label = document.createElement("label");
    const made = document.createElement(kind);
    made.addEventListener("input", () => {
      wanted.set(column, made.value.trim().toLowerCase());
      show();
    });
    label.append(heads[column].textContent.trim(), " ", made);
    place.append(label);
    return made;
  };

  const sort = (column, up) => {
    const number = rows.every((row) => !Number.isNaN(Number(text(row, column))));
    const sign = up ? 1 : -1;
    rows.sort((a, b) => sign * (number
      ? Number(text(a, column)) - Number(text(b, column))
      : text(a, column).localeCompare(text(b, column))));
    table.tBodies[0].append(...rows);
    heads.forEach((head, each) => each === column
      ? head.setAttribute("aria-sort", up ? "ascending" : "descending")
      : head.removeAttribute("aria-sort"));
  };

  heads.forEach((head, column) => {
    const values = [...new Set(rows.map((row) => text(row, column)))];
    const words = values.some((value) => Number.isNaN(Number(value)));
    if (column === 0) {
      field("input", column);
    } else if (words && values.length > 1 && values.length <= 5) {
      const select = field("select", column);
      for (const value of ["", ...values]) select.add(new Option(value || "any", value));
    }
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      sort(column, head.getAttribute("aria-sort") !== "ascending");
    });
    head.append(button);
  });
  place.append(count);
  show();
});
