// A Python of its own: it trains in pieces of a tenth of a second and listens between them.
let python, call, number, running = false, printed = 0;

onmessage = async ({ data }) => {
  if (data.pyodide) load(data.pyodide);
  else if (data.source) train(data);
  else if (data.stop) running = false;
  else if (data.angle !== undefined && call) postMessage({ run: number, ...ask("play", data.angle) });
};

async function load(pyodide) {
  let driver;
  try {
    driver = await (await fetch("try_it_driver.py")).text();
    importScripts(pyodide + "pyodide.js");
    python = await loadPyodide({ indexURL: pyodide, packages: ["numpy"] });
  } catch (error) {
    postMessage({ missing: String(error.message ?? error) });
    return;
  }
  python.setStdout({ batched: (text) => printed++ < 200 && postMessage({ run: number, print: text }) });
  python.FS.writeFile("try_it_driver.py", driver);
  call = python.pyimport("try_it_driver");
  postMessage({ ready: true });
}

function ask(name, ...values) {
  return JSON.parse(call[name](...values));
}

async function train({ run, source, settings, seed }) {
  number = run;
  running = true;
  printed = 0;
  let news = ask("start", source, JSON.stringify(settings), seed);
  postMessage({ run, ...news });
  while (running && run === number && !news.error && !news.finished) {
    await new Promise((resolve) => setTimeout(resolve));
    if (!running || run !== number) break;
    news = ask("advance", 0.1);
    postMessage({ run, ...news });
  }
  if (run === number) postMessage({ run, ended: true });
}
