// The page "Try it": one learner, or two that race, each in a worker; what they do is drawn here.

const IDEAS = [
  ["critics", "Critics", "the lower one's value is the target", [1, 2]],
  ["policy_delay", "Delay", "updates of the critics for one of the actor", [1, 2, 3, 4, 6, 8]],
  ["target_noise", "Smoothing noise", "on the target's action", [0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8]],
  ["tau", "Tau", "how far the targets follow", [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]],
  ["learning_rate", "Learning rate", "of all networks", [0.0001, 0.0003, 0.001, 0.003, 0.01]],
  ["exploration", "Exploration", "noise on the actions it tries", [0, 0.05, 0.1, 0.2, 0.3, 0.5]],
];
const COURSE = { critics: 2, policy_delay: 2, target_noise: 0.2, tau: 0.02, learning_rate: 0.001, exploration: 0.1 };
const BAR = -200; // lesson 03's
const PATIENCE = 1500; // ms until a worker that does not answer "stop" is ended
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const $ = (id) => document.getElementById("try-" + id);
const round = (number) => Math.round(number).toLocaleString("en").replace("-", "−");
const make = (tag, properties = {}, ...inside) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...inside);
  return element;
};

// --- A learner: its worker, its settings, what it has reached ---------------------------------

class Learner {
  constructor(letter) {
    this.letter = letter;
    this.settings = { ...COURSE };
    this.run = 0;
    this.canvas = make("canvas", { role: "img", title: "Click: it starts from there" });
    this.said = make("span");
    this.again = make("button", { type: "button", textContent: "Let go again", disabled: true });
    this.world = make("figure", { className: "try-" + letter }, this.canvas, make("figcaption", {}, this.said, this.again));
    this.again.onclick = () => this.letGo(Math.PI * (2 * Math.random() - 1));
    this.canvas.onclick = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2];
      this.letGo(Math.atan2(-x, -y));
    };
    this.forget();
  }

  forget() {
    Object.assign(this, { episodes: [], evaluations: [], step: 0, steps: 10000, shown: null, next: null, busy: false });
    this.said.textContent = "It hangs.";
    this.again.disabled = true;
    this.draw([Math.PI], [], 0);
  }

  wake() {
    if (this.worker) return;
    this.worker = new Worker("_static/try_it_worker.js");
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.onerror = (event) => {
      this.end();
      fail({ error: "Python in this tab has broken down: " + (event.message ?? "reload the page") });
    };
    this.worker.postMessage({ pyodide: $("stage").dataset.pyodide });
  }

  end() {
    this.worker?.terminate();
    this.worker = null;
    this.busy = this.ready = false;
    refresh();
  }

  start(source, seed) {
    this.forget();
    this.busy = true;
    const settings = Object.fromEntries(Object.entries(this.settings).filter(([name, value]) => value !== COURSE[name]));
    this.order = { run: ++this.run, source, settings, seed };
    this.wake();
    if (this.ready) this.worker.postMessage(this.order);
  }

  stop() {
    if (!this.busy) return;
    if (!this.ready) return this.end();
    this.worker.postMessage({ stop: true });
    const run = this.run;
    setTimeout(() => this.busy && run === this.run && this.end(), PATIENCE);
  }

  letGo(angle) {
    if (this.ready && this.evaluations.length) this.worker.postMessage({ angle });
  }

  hear(news) {
    if (news.ready) {
      this.ready = true;
      this.worker.postMessage(this.order);
      say("Learning.");
    }
    if (news.missing) {
      this.end();
      fail({ error: `Python for the browser could not be fetched from ${new URL($("stage").dataset.pyodide).host}: is there a network, and does nothing block that address? (${news.missing})` });
    }
    if (news.run !== this.run) return;
    if (news.print !== undefined) print(news.print);
    if (news.error) fail(news, this);
    if (news.steps) this.steps = news.steps;
    if (news.step) this.step = news.step;
    this.episodes.push(...(news.episodes ?? []));
    if (news.mean !== undefined) {
      const first = news.mean > BAR && this.evaluations.every((row) => row[1] <= BAR);
      if (first) say(`${$("race").checked ? this.letter : "It"} holds it up after ${round(news.step)} steps: ${round(news.mean)}.`);
      this.evaluations.push([news.step, news.mean, news.promised, news.obtained]);
      this.again.disabled = false;
    }
    if (news.shown) this.show({ ...news.shown, step: this.step, mean: this.evaluations.at(-1)[1] }, news.mean === undefined);
    if (news.ended) {
      this.busy = false;
      announce();
    }
    refresh();
  }

  // The newest episode is shown when the one before has ended, or at once if somebody asked for it.
  show(episode, atOnce) {
    this.next = episode;
    if (atOnce || !this.shown) this.begin();
    requestFrame();
  }

  begin() {
    [this.shown, this.next, this.began] = [this.next, null, performance.now()];
    const { step, mean } = this.shown;
    this.said.textContent = `After ${round(step)} steps: ${round(mean)}`;
    this.canvas.ariaLabel = `Pendulum ${this.letter} after ${step} steps of learning; mean return of five episodes ${Math.round(mean)}`;
  }

  frame(now) { // 50 steps of 0.05 s a second: two and a half times as fast as it is
    if (!this.shown) return false;
    const last = this.shown.actions.length;
    const at = calm.matches ? last : Math.min(last, (now - this.began) / 20);
    this.draw(this.shown.angles, this.shown.actions, at);
    if (at < last) return true;
    if (this.next) this.begin();
    return Boolean(this.next);
  }

  draw(angles, actions, at) {
    const style = getComputedStyle(this.world), scale = devicePixelRatio || 1;
    const side = this.canvas.clientWidth || 260, pen = this.canvas.getContext("2d");
    if (this.canvas.width !== Math.round(side * scale)) this.canvas.width = this.canvas.height = Math.round(side * scale);
    const [colour, faint] = ["--try-colour", "--pst-color-border"].map((name) => style.getPropertyValue(name));
    const k = Math.floor(at), part = at - k, middle = side / 2, length = side * 0.36;
    const angle = angles[k] + part * ((angles[k + 1] ?? angles[k]) - angles[k]);
    const place = (a, r) => [middle - r * Math.sin(a), middle - r * Math.cos(a)];
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, side, side);
    pen.lineCap = "round";
    const stroke = (style, width, path) => {
      [pen.strokeStyle, pen.lineWidth] = [style, width];
      pen.beginPath();
      path();
      pen.stroke();
    };
    stroke(faint, 1.5, () => pen.arc(middle, middle, length, 0, 7));
    stroke(faint, 4, () => [length - 7, length + 7].forEach((r, i) => pen[i ? "lineTo" : "moveTo"](...place(0, r))));
    for (let i = Math.max(0, k - 12); i < k; i++) { // where it was
      pen.globalAlpha = (i - k + 13) / 40;
      stroke(colour, 5, () => pen.arc(middle, middle, length, -Math.PI / 2 - angles[i], -Math.PI / 2 - angles[i + 1], angles[i + 1] > angles[i]));
    }
    pen.globalAlpha = 1;
    stroke(colour, side / 22, () => { pen.moveTo(middle, middle); pen.lineTo(...place(angle, length)); });
    const torque = actions[k] ?? 0; // the motor, as an arc around the axle
    if (Math.abs(torque) > 0.02) stroke(style.getPropertyValue("--pst-color-text-base"), 3, () =>
      pen.arc(middle, middle, side / 12, -Math.PI / 2 - angle, -Math.PI / 2 - angle - 2.4 * torque, torque > 0));
    pen.fillStyle = style.getPropertyValue("--pst-color-text-base");
    pen.beginPath();
    pen.arc(middle, middle, side / 50, 0, 7);
    pen.fill();
  }
}

const learners = [new Learner("A"), new Learner("B")];
const racing = () => ($("race").checked ? learners : learners.slice(0, 1));

// --- What is said -----------------------------------------------------------------------------

function say(text) { $("status").textContent = text; }

function announce() {
  if (racing().some((learner) => learner.busy) || !$("error").hidden) return;
  const said = racing().filter((learner) => learner.evaluations.length).map(({ letter, step, evaluations }) =>
    `${$("race").checked ? letter + " after" : "After"} ${round(step)} steps: a mean return of ${round(evaluations.at(-1)[1])}.`);
  say(["Done.", ...said].join(" ") + " Click into the circle to let it go from there.");
}

function fail({ error, line }, learner) {
  if (learner) learners.forEach((each) => each !== learner && each.stop());
  $("error").textContent = (line ? `Line ${line}: ` : "") + error;
  $("error").hidden = false;
  say("Stopped by an error.");
  if (line) mark(line, error);
}

function print(text) {
  $("printed").hidden = false;
  $("printed").textContent += text + "\n";
}

// --- Curves -----------------------------------------------------------------------------------

function chart(svg, label, low, high, lines, unit, bar) {
  const [width, height] = [svg.clientWidth || 480, svg.clientHeight || 200], left = 52, bottom = 20;
  const steps = Math.max(...racing().map((learner) => learner.steps));
  const x = (step) => left + (step / steps) * (width - left - 12);
  const y = (value) => 8 + (1 - (Math.max(low, Math.min(high, value)) - low) / (high - low)) * (height - bottom - 14);
  const text = (at, level, words, anchor) => `<text x="${at}" y="${level}" text-anchor="${anchor}">${words}</text>`;
  let marks = "";
  for (let level = Math.ceil(low / unit) * unit; level <= high; level += unit)
    marks += `<path class="try-grid" d="M${left} ${y(level)}H${width - 12}"/>` + text(left - 6, y(level) + 4, round(level), "end");
  for (const part of [0, 0.5, 1])
    marks += text(x(part * steps), height - 4, round(part * steps) + (part === 1 ? " steps" : ""), part === 1 ? "end" : part ? "middle" : "start");
  if (bar) marks += `<path class="try-bound" d="M${left} ${y(bar)}H${width - 12}"/>` + text(width - 12, y(bar) + 15, `lesson 03's threshold: ${round(bar)}`, "end");
  const path = (points) => points.map(([step, value], i) => `${i ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("");
  for (const [letter, kind, points] of lines)
    marks += kind === "dot"
      ? points.map(([step, value]) => `<circle class="try-${letter}" cx="${x(step)}" cy="${y(value)}" r="2.5"/>`).join("")
      : `<path class="try-${letter} try-${kind}" d="${path(points)}"/>`;
  svg.innerHTML = marks;
  svg.ariaLabel = label;
}

function drawCharts() {
  const all = racing();
  const column = (learner, k) => learner.evaluations.map((row) => [row[0], row[k]]);
  const last = (k) => all.map((a) => (a.evaluations.length ? `${a.letter} ${Math.round(a.evaluations.at(-1)[k])}` : `${a.letter} nothing yet`)).join(", ");
  chart($("returns"), `Returns against steps; the last: ${last(1)}`, -2000, 0,
    all.flatMap((a) => [[a.letter, "dot", a.episodes], [a.letter, "line", column(a, 1)]]), 500, BAR);
  const seen = all.flatMap((a) => a.evaluations.flatMap((row) => row.slice(2)));
  const [low, high] = [Math.min(-400, ...seen), Math.max(100, ...seen)];
  chart($("promises"), `Promised by the critic: ${last(2)}; obtained: ${last(3)}`, low, high,
    all.flatMap((a) => [[a.letter, "dashed", column(a, 3)], [a.letter, "line", column(a, 2)]]), 100 * 2 ** Math.ceil(Math.log2((high - low) / 500)));
}

// --- Settings, link, buttons ------------------------------------------------------------------

function drawIdeas() {
  $("ideas").replaceChildren(...IDEAS.map(([name, title, hint, values]) => {
    const sliders = racing().map((learner) => {
      const shown = make("output", { textContent: learner.settings[name] });
      const slider = make("input", {
        type: "range", min: 0, max: values.length - 1, value: values.indexOf(learner.settings[name]),
        ariaLabel: `${title}${$("race").checked ? ", " + learner.letter : ""}`, ariaValueText: String(learner.settings[name]),
      });
      slider.dataset.name = name;
      slider.oninput = () => {
        learner.settings[name] = values[slider.value];
        shown.textContent = slider.ariaValueText = values[slider.value];
        settled();
      };
      return make("span", { className: "try-" + learner.letter }, slider, shown);
    });
    return make("div", { className: "try-idea" }, make("b", { textContent: title }), " ", make("small", { textContent: hint }), ...sliders);
  }));
}

function settled() {
  const words = new URLSearchParams();
  if ($("seed").value !== "0") words.set("seed", $("seed").value);
  if ($("race").checked) words.set("race", 1);
  for (const learner of racing())
    for (const [name, value] of Object.entries(learner.settings))
      if (value !== COURSE[name]) words.set(learner.letter === "A" ? name : "B." + name, value);
  history.replaceState(null, "", "#" + words);
  if (racing().some((learner) => learner.step)) say("Changed: it counts from the next start.");
}

function fromLink() {
  const words = new URLSearchParams(location.hash.slice(1));
  $("seed").value = Math.abs(parseInt(words.get("seed") ?? 0)) || 0;
  $("race").checked = words.has("race");
  for (const learner of learners)
    for (const [name, , , values] of IDEAS) {
      const value = Number(words.get(learner.letter === "A" ? name : "B." + name) ?? COURSE[name]);
      learner.settings[name] = values.includes(value) ? value : COURSE[name];
    }
  layOut();
}

function layOut() {
  $("stage").classList.toggle("try-racing", $("race").checked);
  if (!$("race").checked) learners[1].stop();
  $("worlds").replaceChildren(...racing().map((learner) => learner.world));
  drawIdeas();
  refresh();
  requestFrame(true);
}

function run() {
  if (location.protocol === "file:") return fail({ error: "A page opened as a file may start no worker: serve the folder, for example by python -m http.server, and open it from there." });
  mark(null);
  $("error").hidden = $("printed").hidden = true;
  $("printed").textContent = "";
  say(learners[0].ready ? "Learning." : "Fetching Python for the browser …");
  for (const learner of racing()) learner.start($("source").value, Math.abs(parseInt($("seed").value)) || 0);
  refresh();
}

let waiting = 0, redraw = false;

function refresh() {
  const busy = learners.some((learner) => learner.busy);
  $("run").textContent = busy ? "Start again" : "Run";
  $("stop").disabled = !busy;
  requestFrame(true);
}

function requestFrame(charts = false) {
  redraw ||= charts;
  waiting ||= requestAnimationFrame((now) => {
    waiting = 0;
    if (redraw) drawCharts();
    redraw = false;
    let moving = false;
    for (const learner of racing()) {
      if (learner.shown) moving = learner.frame(now) || moving;
      else learner.draw([Math.PI], [], 0);
    }
    if (moving) requestFrame();
  });
}

// --- The code ---------------------------------------------------------------------------------

const TOKENS = /("""[\s\S]*?"""|"[^"\n]*"|'[^'\n]*')|(#.*)|\b(class|def|return|for|in|if|else|import|from|yield|not|and|or|lambda|while|None|True|False)\b|\b(\d[\d_.]*(?:e-?\d+)?)\b/g;
const KINDS = ["s2", "c1", "k", "mi"]; // Pygments' names: the theme colours them

function colour() {
  const code = $("source").value;
  const plain = (text) => text.replace(/[&<]/g, (sign) => (sign === "&" ? "&amp;" : "&lt;"));
  let html = "", end = 0;
  for (const found of code.matchAll(TOKENS)) {
    const kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)];
    html += plain(code.slice(end, found.index)) + `<span class="${kind}">${plain(found[0])}</span>`;
    end = found.index + found[0].length;
  }
  $("colours").innerHTML = html + plain(code.slice(end)) + "\n";
  $("numbers").innerHTML = code.split("\n").map((_, i) => `<span>${i + 1}</span>`).join("\n");
  $("restore").disabled = code === $("source").defaultValue;
}

function mark(line, error) {
  $("numbers").querySelector(".try-wrong")?.classList.remove("try-wrong");
  $("wrong").textContent = "";
  const number = $("numbers").children[line - 1], code = number?.closest(".try-code");
  if (!code) return;
  number.classList.add("try-wrong");
  $("wrong").textContent = error;
  $("wrong").style.top = number.offsetTop + number.offsetHeight + "px";
  code.scrollTop = number.offsetTop - code.clientHeight / 2;
  code.scrollIntoView({ block: "center" });
}

$("source").oninput = () => { mark(null); colour(); };
$("source").onkeydown = (event) => {
  if (event.key !== "Enter") return;
  event.preventDefault();
  if (event.ctrlKey || event.metaKey) return run();
  const before = $("source").value.slice(0, $("source").selectionStart).split("\n").at(-1);
  document.execCommand("insertText", false, "\n" + before.match(/^ */)[0] + (before.endsWith(":") ? "    " : ""));
};
$("restore").onclick = () => { $("source").value = $("source").defaultValue; $("source").oninput(); };
$("run").onclick = run;
$("run-code").onclick = () => { run(); $("stage").scrollIntoView(); };
$("stop").onclick = () => { say("Stopped."); learners.forEach((learner) => learner.stop()); };
$("race").onchange = () => { layOut(); settled(); };
$("seed").onchange = settled;
$("defaults").onclick = () => { learners.forEach((learner) => (learner.settings = { ...COURSE })); drawIdeas(); settled(); };
$("share").onclick = async () => {
  settled();
  await navigator.clipboard?.writeText(location.href).catch(() => {});
  say("The address holds these settings and the seed, not your code. It is copied.");
};
for (const button of document.querySelectorAll("[data-race]"))
  button.onclick = () => { location.hash = button.dataset.race; fromLink(); run(); $("stage").scrollIntoView(); };
onhashchange = fromLink;
new ResizeObserver(() => requestFrame(true)).observe($("stage"));
new MutationObserver(() => requestFrame(true)).observe(document.documentElement, { attributeFilter: ["data-theme"] });
fromLink();
colour();
