// The connection to the viewer, and what keys and buttons do.

import { Panel } from "./panel.js";
import { WallView } from "./wall.js";

const VIEW_AFTER = 100; // ms without a change of the view before the viewer is informed
const AGAIN_MIN = 500; // ms
const AGAIN_MAX = 5000;
const WRONG_TOKEN = 4001;
const PROTOCOL = "manganese-viewer";
const TOKEN = "manganese viewer token"; // where it is kept

const get = (id) => document.getElementById(id);
const panel = new Panel();
const wall = new WallView(get("stage"), get("mural"), () => {
  clearTimeout(viewTimer);
  viewTimer = setTimeout(tellView, VIEW_AFTER);
});
let viewTimer;
let socket;
let again = AGAIN_MIN;
let shown = Promise.resolve();

// The token comes in the fragment, which no server is sent, and stays with this tab.
function token() {
  const found = /(?:^#|&)token=([0-9a-f]+)/.exec(location.hash);
  if (found) {
    sessionStorage.setItem(TOKEN, found[1]);
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(TOKEN);
}

function setState(state, text, notice = "") {
  get("state").dataset.state = state;
  get("state").textContent = text;
  get("notice").textContent = notice;
  get("notice").hidden = !notice;
  get("stage").classList.toggle("stale", state !== "live");
}

function connect() {
  const secret = token();
  if (!secret) {
    setState("refused", "No token", "Open the whole address that the viewer printed, with its token.");
    return;
  }
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const ours = new WebSocket(`${scheme}://${location.host}/watch`, [PROTOCOL, secret]);
  ours.binaryType = "arraybuffer";
  socket = ours;
  ours.onmessage = ({ data }) => {
    if (typeof data === "string") {
      take(JSON.parse(data));
    } else {
      shown = shown.then(() => show(ours, data)).catch((error) => console.warn(error));
    }
  };
  ours.onclose = ({ code, reason }) => {
    if (code === WRONG_TOKEN) {
      setState("refused", "Refused", "The viewer has another token now: open the address that it printed.");
      return;
    }
    setState("lost", "Not connected", reason ? `${reason}; trying again.` : "The viewer does not answer; trying again.");
    setTimeout(connect, again);
    again = Math.min(AGAIN_MAX, again * 2);
  };
}

function take(said) {
  if (said.wall) {
    again = AGAIN_MIN;
    setState("live", "Connected");
    get("name").textContent = said.wall.name;
    document.title = `${said.wall.name} · Manganese`;
    wall.setWall(said.wall);
    panel.setWall(said.wall);
    tellView();
  }
  if (said.tiles) {
    if (said.tiles.every(({ health }) => health === "lost")) {
      setState("ended", "No program", "The program has ended, or lost all of its servers; the next one is shown here.");
    } else {
      setState("live", "Connected");
    }
    said.tiles.forEach(({ health }, n) => wall.setHealth(n, health));
    panel.setTiles(said.tiles);
  }
}

function tell(what) {
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(what));
}

function tellView() {
  if (!wall.wall) return;
  const saving = navigator.connection?.saveData;
  tell({ view: { widths: wall.widths(), quality: saving ? 50 : wall.isClose() ? 92 : 80 } });
}

// pictures:u32  (tile:u32  x:u32  y:u32  width:u32  height:u32  frame:u64  bytes:u32  jpeg)*
async function show(from, data) {
  const bytes = new DataView(data);
  const pictures = [];
  let at = 4;
  for (let left = bytes.getUint32(0, true); left > 0; left -= 1) {
    const [tile, x, y, width, height] = [0, 4, 8, 12, 16].map((offset) => bytes.getUint32(at + offset, true));
    const frame = Number(bytes.getBigUint64(at + 20, true));
    const length = bytes.getUint32(at + 28, true);
    const jpeg = new Blob([new Uint8Array(data, at + 32, length)], { type: "image/jpeg" });
    at += 32 + length;
    // A picture that is damaged leaves the others alone.
    const bitmap = createImageBitmap(jpeg).catch(() => null);
    pictures.push({ tile, x, y, width, height, frame, bitmap });
  }
  for (const picture of pictures) picture.bitmap = await picture.bitmap;
  const sound = pictures.filter(({ bitmap }) => bitmap);
  if (sound.length > 0) {
    wall.show(sound);
    panel.count(data.byteLength);
  }
  if (from.readyState === WebSocket.OPEN) from.send(JSON.stringify("taken"));
}

function toggleFigures() {
  const hidden = get("panel").toggleAttribute("hidden");
  get("figures").setAttribute("aria-expanded", String(!hidden));
}

get("whole").onclick = () => wall.showWhole();
get("in").onclick = () => wall.zoom(1);
get("out").onclick = () => wall.zoom(-1);
get("figures").onclick = toggleFigures;
get("keys").onclick = () => get("help").showModal();

const keys = {
  ArrowLeft: () => wall.pan(-0.125, 0),
  ArrowRight: () => wall.pan(0.125, 0),
  ArrowUp: () => wall.pan(0, -0.125),
  ArrowDown: () => wall.pan(0, 0.125),
  "+": () => wall.zoom(1),
  "=": () => wall.zoom(1),
  "-": () => wall.zoom(-1),
  0: () => wall.showWhole(),
  Escape: () => wall.showWhole(),
  s: toggleFigures,
  "?": () => get("help").showModal(),
};
for (let n = 1; n <= 9; n += 1) keys[n] = () => wall.showTile(n - 1);

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || get("help").open) return;
  const key = keys[event.key];
  if (!key || !wall.wall || (event.key.startsWith("Arrow") && get("panel").contains(event.target))) return;
  event.preventDefault();
  key();
});
document.addEventListener("visibilitychange", tellView);
if (matchMedia("(max-width: 760px) and (max-height: 560px)").matches) toggleFigures();
connect();
