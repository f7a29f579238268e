// The wall as it is arranged: where tiles are on the screen, and what they show.

const STEP = 1.25; // one zoom by key or button
const CLOSEST = 16; // screen pixels to a pixel of the wall
const MOVE_TIME = 180; // ms
const DRAG_FROM = 5; // pixels that a finger may tremble
const UNIT = [160, 90]; // the assumed size of a tile of a plain grid, until a picture shows its true size

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws a wall inside `stage`; calls `onview` when what is in view has changed. */
export class WallView {
  constructor(stage, mural, onview) {
    this.stage = stage;
    this.mural = mural;
    this.onview = onview;
    this.tiles = [];
    this.size = [1, 1];
    this.view = { x: 0.5, y: 0.5, scale: 1 };
    this.whole = true;
    this.listen();
    new ResizeObserver(() => (this.whole ? this.showWhole(false) : this.layout())).observe(stage);
  }

  /** Takes a wall: {size, fit, tiles: [{name, rect}]}. */
  setWall(wall) {
    const same = JSON.stringify(wall) === JSON.stringify(this.wall);
    if (same) return;
    this.wall = wall;
    // A grid without a size of its own has that of the window: its units are tiles.
    this.plain = wall.fit === "scale" && Math.max(...wall.size) <= 64;
    this.unit = this.plain ? UNIT : [1, 1];
    this.mural.replaceChildren();
    this.tiles = wall.tiles.map((tile, n) => {
      const element = document.createElement("button");
      element.type = "button";
      element.className = "tile";
      const canvas = document.createElement("canvas");
      const label = document.createElement("span");
      element.append(canvas, label);
      element.addEventListener("click", () => this.toggle(n));
      element.addEventListener("focus", () => element.matches(":focus-visible") && this.follow(n));
      this.mural.append(element);
      const context = canvas.getContext("bitmaprenderer");
      return { ...tile, element, canvas, context, label, picture: null };
    });
    this.tiles.forEach((_, n) => this.setHealth(n, "waiting"));
    this.showWhole(false);
  }

  setHealth(n, health) {
    const tile = this.tiles[n];
    if (tile.health === health) return;
    tile.health = health;
    tile.element.dataset.health = health;
    const why = { waiting: "no server yet", late: "late", lost: "server lost" }[health];
    tile.label.textContent = why ? `${tile.name}: ${why}` : tile.name;
    tile.element.setAttribute("aria-label", `Tile ${tile.name}, ${why ?? "live"}`);
  }

  /** Shows pictures, all at once: [{tile, bitmap, x, y, width, height, frame}]. */
  show(pictures) {
    let resized = false;
    for (const picture of pictures) {
      const tile = this.tiles[picture.tile];
      const { bitmap, ...place } = picture;
      Object.assign(tile.element.dataset, { frame: place.frame, pixels: bitmap.width });
      tile.context.transferFromImageBitmap(bitmap);
      const before = tile.picture;
      tile.picture = place;
      resized ||= ["x", "y", "width", "height"].some((key) => before?.[key] !== place[key]);
    }
    if (!resized) return;
    if (this.plain) {
      const { rect, picture } = this.tiles[pictures[0].tile];
      this.unit = [picture.width / rect.width, picture.height / rect.height];
    }
    if (this.whole) this.showWhole(false);
    else this.layout();
  }

  /** Of each tile the width of its picture in device pixels, 0 for those out of sight. */
  widths() {
    const box = this.stage.getBoundingClientRect();
    if (document.hidden) return this.tiles.map(() => 0);
    return this.tiles.map((tile) => {
      const part = tile.element.getBoundingClientRect();
      const seen =
        part.right > box.left && part.left < box.right && part.bottom > box.top && part.top < box.bottom;
      const width = tile.canvas.getBoundingClientRect().width || part.width;
      return seen ? Math.min(16384, Math.max(1, Math.ceil(width * devicePixelRatio))) : 0;
    });
  }

  /** Whether pixels of the wall are shown no smaller than they are. */
  isClose() {
    return this.view.scale * devicePixelRatio >= 1;
  }

  showWhole(moving = true) {
    this.whole = true;
    const scale = Math.min(...this.room().map((room, n) => (room - 32) / this.extent()[n]));
    const [width, height] = this.extent();
    this.go({ x: width / 2, y: height / 2, scale: Math.max(scale, 1e-6) }, moving);
  }

  showTile(n) {
    const tile = this.tiles[n];
    if (!tile) return;
    this.whole = false;
    const part = this.part(tile.rect);
    const [width, height] = this.room();
    const scale = Math.min((width - 16) / part.width, (height - 16) / part.height);
    this.go({ x: part.x + part.width / 2, y: part.y + part.height / 2, scale }, true);
    this.alone = n;
  }

  zoom(times) {
    this.zoomAt(Math.pow(STEP, times), null, true);
  }

  /** Moves by shares of the stage. */
  pan(dx, dy) {
    const [width, height] = this.room();
    const { x, y, scale } = this.target ?? this.view;
    this.whole = false;
    this.go({ x: x + (dx * width) / scale, y: y + (dy * height) / scale, scale }, true);
  }

  // The following methods are private.

  room() {
    return [Math.max(64, this.stage.clientWidth), Math.max(64, this.stage.clientHeight)];
  }

  /** Width and height of the mural, in pixels of the wall. */
  extent() {
    return this.wall ? this.wall.size.map((size, n) => size * this.unit[n]) : [1, 1];
  }

  part(rect) {
    const [w, h] = this.unit;
    return { x: rect.x * w, y: rect.y * h, width: rect.width * w, height: rect.height * h };
  }

  toggle(n) {
    if (this.dragged) return;
    if (!this.whole && this.alone === n) this.showWhole();
    else this.showTile(n);
  }

  /** Brings a tile into view that has got the focus. */
  follow(n) {
    if (this.whole) return;
    const part = this.part(this.tiles[n].rect);
    const { scale } = this.target ?? this.view;
    this.go({ x: part.x + part.width / 2, y: part.y + part.height / 2, scale }, true);
    this.alone = n;
  }

  /** Zooms, leaving what is at `point` of the stage where it is; by default its centre. */
  zoomAt(factor, point, moving) {
    const from = this.target ?? this.view;
    const [width, height] = this.room();
    const [dx, dy] = point ? [point[0] - width / 2, point[1] - height / 2] : [0, 0];
    const smallest = Math.min(width / this.extent()[0], height / this.extent()[1]) / 4;
    const scale = Math.min(CLOSEST, Math.max(smallest, from.scale * factor));
    const x = from.x + dx / from.scale - dx / scale;
    const y = from.y + dy / from.scale - dy / scale;
    this.whole = false;
    this.go({ x, y, scale }, moving);
  }

  go(to, moving) {
    const [width, height] = this.extent();
    to.x = Math.min(width, Math.max(0, to.x));
    to.y = Math.min(height, Math.max(0, to.y));
    this.alone = null;
    cancelAnimationFrame(this.moving);
    if (!moving || still.matches || document.hidden) {
      this.target = null;
      this.view = to;
      this.layout();
      return;
    }
    this.target = to;
    const from = this.view;
    const start = performance.now();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, (now - start) / MOVE_TIME));
      const ease = 1 - Math.pow(1 - t, 3);
      const scale = from.scale * Math.pow(to.scale / from.scale, ease);
      // Along a straight line on the screen, also while the scale changes.
      const share = to.scale === from.scale ? ease : (1 / from.scale - 1 / scale) / (1 / from.scale - 1 / to.scale);
      this.view = { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share, scale };
      if (t < 1) {
        this.moving = requestAnimationFrame(step);
      } else {
        this.view = to;
        this.target = null;
      }
      this.layout();
    };
    this.moving = requestAnimationFrame(step);
  }

  layout() {
    if (!this.wall) return;
    const { x, y, scale } = this.view;
    const [width, height] = this.room();
    const left = Math.round(width / 2 - x * scale);
    const top = Math.round(height / 2 - y * scale);
    const place = (element, part) => {
      // Edges are rounded, not sizes, so that neighbours meet.
      const edges = [part.x, part.y, part.x + part.width, part.y + part.height];
      const [l, t, r, b] = edges.map((edge) => Math.round(edge * scale));
      Object.assign(element.style, { left: `${l}px`, top: `${t}px`, width: `${r - l}px`, height: `${b - t}px` });
    };
    const [w, h] = this.extent();
    place(this.mural, { x: 0, y: 0, width: w, height: h });
    Object.assign(this.mural.style, { left: `${left}px`, top: `${top}px` });
    for (const tile of this.tiles) {
      const part = this.part(tile.rect);
      place(tile.element, part);
      tile.canvas.style.imageRendering = scale * devicePixelRatio >= 3 ? "pixelated" : "auto";
      if (this.wall.fit === "scale" || !tile.picture) continue;
      const { picture } = tile;
      place(tile.canvas, { ...picture, x: picture.x - part.x, y: picture.y - part.y });
    }
    this.onview();
  }

  listen() {
    const { stage } = this;
    const pointers = new Map();
    const at = (event) => {
      const box = stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    stage.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const lines = [1, 16, 400][event.deltaMode];
        this.zoomAt(Math.exp(-event.deltaY * lines * 0.0015), at(event), false);
      },
      { passive: false },
    );
    stage.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      if (pointers.size === 0) this.dragged = false;
      pointers.set(event.pointerId, at(event));
      this.start = at(event);
    });
    stage.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      if (!this.dragged && pointers.size === 1) {
        const far = Math.hypot(now[0] - this.start[0], now[1] - this.start[1]);
        if (far < DRAG_FROM) return;
      }
      if (!this.dragged) {
        this.dragged = true;
        stage.classList.add("dragging");
        for (const id of pointers.keys()) stage.setPointerCapture(id);
      }
      const others = [...pointers].filter(([id]) => id !== event.pointerId);
      pointers.set(event.pointerId, now);
      const { x, y, scale } = this.view;
      if (others.length === 0) {
        this.whole = false;
        this.go({ x: x - (now[0] - before[0]) / scale, y: y - (now[1] - before[1]) / scale, scale }, false);
      } else {
        const other = others[0][1];
        const apart = (point) => Math.max(10, Math.hypot(point[0] - other[0], point[1] - other[1]));
        const middle = (point) => [(point[0] + other[0]) / 2, (point[1] + other[1]) / 2];
        const [from, to] = [middle(before), middle(now)];
        this.go({ x: x - (to[0] - from[0]) / scale, y: y - (to[1] - from[1]) / scale, scale }, false);
        this.zoomAt(apart(now) / apart(before), to, false);
      }
    });
    const end = (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size > 0) return;
      stage.classList.remove("dragging");
      // The click that ends a drag comes after this event.
      setTimeout(() => (this.dragged = false));
    };
    stage.addEventListener("pointerup", end);
    stage.addEventListener("pointercancel", end);
  }
}
