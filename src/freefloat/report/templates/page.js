"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("curves").textContent) || [];
  const decoded = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const drawn = new Map();
  const showErrors = {};
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue("--" + name).trim();
  };
  const shown = (value) => {
    const size = Math.abs(value);
    if (value === 0) return "0";
    return size >= 1e5 || size < 1e-3 ? value.toExponential(1).replace("e+", "e") : String(+value.toPrecision(4));
  };
  // as many decimals as tell one tick from the next
  const ticked = (ticks, step) => ticks.map((value) => value === 0 || Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
    ? shown(value) : value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
  const sync = (group) => uPlot.sync("flight" + group);

  function series(chart) {
    const time = decoded(chart.time), lines = {};
    for (const [name, text] of Object.entries(chart.lines)) lines[name] = decoded(text);
    if (!showErrors[chart.group] || !lines.predicted) return [time, lines];
    const errors = {};
    for (const name of ["before", "predicted"])
      if (lines[name]) errors[name] = lines.measured.map((v, n) => v - lines[name][n]);
    return [time, errors];
  }

  function draw(chart) {
    const place = document.getElementById(chart.id);
    if (!place) return;
    const old = drawn.get(chart.id);
    const window_ = old ? [old.scales.x.min, old.scales.x.max] : null;
    if (old) old.destroy();
    const colour = colours(), [time, lines] = series(chart);
    const order = ["measured", "before", "predicted"].filter((name) => lines[name]);
    const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line") },
      font: "11px system-ui, sans-serif", labelFont: "11px system-ui, sans-serif" };
    const title = showErrors[chart.group] && chart.lines.predicted ? "measured − predicted " + chart.label : chart.label;
    const options = {
      width: Math.max(place.clientWidth, 200), height: 190, legend: { show: false },
      scales: { x: { time: false } },
      cursor: { sync: { key: sync(chart.group).key, setSeries: false, scales: ["x", null] }, drag: { x: true, y: false }, points: { size: 5 } },
      axes: [ { ...axis, label: chart.start ? "time after " + shown(chart.start) + " s [s]" : "time [s]", size: 34, labelSize: 16 },
              { ...axis, label: title, size: 56, labelSize: 16, values: (_, ticks, at, space, step) => ticked(ticks, step) } ],
      series: [{}].concat(order.map((name) => ({
        stroke: colour(name), width: name === "measured" ? 1 : 1.4, dash: name === "before" ? [5, 3] : undefined,
        points: { show: false } }))),
    };
    const chartDrawn = new uPlot(options, [time].concat(order.map((name) => lines[name])), place);
    if (window_ && window_[0] != null) chartDrawn.setScale("x", { min: window_[0], max: window_[1] });
    drawn.set(chart.id, chartDrawn);
  }

  const drawAll = () => charts.forEach(draw);
  charts.forEach((chart) => { chart.group = /^v(\d+)/.exec(chart.id)[1]; });
  drawAll();
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() =>
    charts.forEach((chart) => { const place = document.getElementById(chart.id), plot = drawn.get(chart.id);
      if (place && plot) plot.setSize({ width: Math.max(place.clientWidth, 200), height: 190 }); }), 100); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  matchMedia("print").addEventListener("change", drawAll);
  for (const button of document.querySelectorAll("button[data-toggle]"))
    button.addEventListener("click", () => {
      const group = button.dataset.toggle;
      showErrors[group] = !showErrors[group];
      button.textContent = showErrors[group] ? "show values" : "show errors";
      button.setAttribute("aria-pressed", String(!!showErrors[group]));
      charts.filter((chart) => chart.group === group).forEach(draw);
    });
})();
