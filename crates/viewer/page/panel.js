// The statistics panel.

const percent = (share) => `${Math.round(share * 100)} %`;
const rate = (number) => (number >= 100 ? number.toFixed(0) : number.toFixed(1));

/** Bytes a second, in the units of networks. */
export function bytes(number) {
  const units = ["B/s", "kB/s", "MB/s", "GB/s"];
  let unit = 0;
  while (number >= 1000 && unit < 3) {
    number /= 1000;
    unit += 1;
  }
  return `${number >= 100 || unit === 0 ? number.toFixed(0) : number.toFixed(1)} ${units[unit]}`;
}

const text = (id, value) => (document.getElementById(id).textContent = value);

export class Panel {
  constructor() {
    this.body = document.getElementById("servers");
    this.rows = [];
    this.sets = 0;
    this.bytes = 0;
    this.since = performance.now();
  }

  setWall(wall) {
    this.rows = wall.tiles.map((tile) => {
      const row = document.createElement("tr");
      const head = document.createElement("th");
      head.scope = "row";
      const server = document.createElement("small");
      head.append(tile.name, server);
      const cell = (kind) => {
        const cell = document.createElement("td");
        cell.className = kind;
        return cell;
      };
      const time = cell("time");
      const bar = document.createElement("div");
      bar.className = "bar";
      bar.setAttribute("role", "img");
      const [rendering, waiting] = ["rendering", "waiting"].map((kind) => {
        const part = document.createElement("i");
        part.className = kind;
        return part;
      });
      bar.append(rendering, waiting);
      time.append(bar);
      const [frames, amount] = [cell("frames"), cell("amount")];
      row.append(head, time, frames, amount);
      return { row, server, bar, rendering, waiting, frames, amount };
    });
    this.body.replaceChildren(...this.rows.map(({ row }) => row));
  }

  /** Takes what the viewer tells of the tiles: [{health, server, rates}]. */
  setTiles(tiles) {
    tiles.forEach(({ health, server, rates }, n) => {
      const row = this.rows[n];
      row.server.textContent = server ?? { waiting: "no server yet", lost: "server lost" }[health] ?? "";
      const { rendering, waiting } = rates ?? { rendering: 0, waiting: 0 };
      row.rendering.style.width = `${rendering * 100}%`;
      row.waiting.style.width = `${waiting * 100}%`;
      const idle = Math.max(0, 1 - rendering - waiting);
      const said = `rendering ${percent(rendering)}, waiting ${percent(waiting)}, idle ${percent(idle)}`;
      row.bar.setAttribute("aria-label", rates ? said : "nothing known");
      row.bar.title = rates ? said : "";
      row.frames.textContent = rates ? rate(rates.frames) : "–";
      row.amount.textContent = rates ? bytes(rates.bytes) : "–";
    });
    const known = tiles.map(({ rates }) => rates).filter(Boolean);
    text("program", known.length ? rate(Math.max(...known.map(({ frames }) => frames))) : "–");
    text("commands", known.length ? bytes(known.reduce((sum, { bytes }) => sum + bytes, 0)) : "–");
    const elapsed = (performance.now() - this.since) / 1000;
    if (elapsed < 0.9) return;
    text("shown", rate(this.sets / elapsed));
    text("pictures", bytes(this.bytes / elapsed));
    [this.sets, this.bytes, this.since] = [0, 0, performance.now()];
  }

  /** Counts pictures that have been shown together. */
  count(bytes) {
    this.sets += 1;
    this.bytes += bytes;
  }
}
