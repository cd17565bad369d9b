"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts").textContent) || [];
  const decode = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const heightOf = (chart) => chart.height || 190, NARROWEST = 150, SMALL = 320;
  const drawn = new Map(), showErrors = {};
  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return (name) => style.getPropertyValue("--" + name).trim();
  };

  // -- numbers on axes
  const shown = (value) => {
    const size = Math.abs(value);
    if (value === 0) return "0";
    return size >= 1e5 || size < 1e-3 ? value.toExponential(1).replace("e+", "e") : String(+value.toPrecision(4));
  };
  // as many decimals as tell one tick from the next
  const ticked = (ticks, step) => ticks.map((value) => value === 0 || Math.abs(value) >= 1e5 || Math.abs(value) < 1e-3
    ? shown(value) : value.toFixed(Math.max(0, -Math.floor(Math.log10(step) + 1e-9))));
  const power = (n) => "10" + String(n).replace(/./g, (c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻");
  // powers of ten, and 2 and 5 between them where there are few; no more than fit
  const logTicks = (u, ticks, isY) => {
    const decades = Math.log10(ticks[ticks.length - 1] / ticks[0]) || 1;
    const every = isY ? Math.ceil((decades + 1) / 5) : Math.ceil((decades + 1) / 6);
    return ticks.map((v) => {
      const n = Math.floor(Math.log10(v) + 1e-6), lead = Math.round(v / 10 ** n);
      if (lead !== 1 && (decades >= (isY ? 1 : 2) || (lead !== 2 && lead !== 5))) return "";
      return lead === 1 && n % every ? "" : isY ? (lead === 1 ? power(n) : "") : shown(v);
    });
  };
  // of a logarithmic axis, lines at powers of ten only
  const powersOnly = (u, ticks) => ticks.map((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6 ? v : null);
  const logAxis = (axis, isY) => ({ filter: (u, ticks) => ticks, grid: { ...axis.grid, filter: powersOnly },
    ticks: { ...axis.ticks, filter: powersOnly }, values: (u, ticks) => logTicks(u, ticks, isY) });
  const logRange = (u, low, high) => {
    const top = 10 ** Math.ceil(Math.log10(high) - 1e-6), bottom = 10 ** Math.floor(Math.log10(low) + 1e-6);
    return [Math.max(bottom, top * 1e-12), top > bottom ? top : 10 * bottom];
  };

  // -- data of a chart: its x, and one column a line
  function columns(chart) {
    const xs = chart.xs.map(decode), lines = chart.lines.map((line) => ({ ...line, y: decode(line.y) }));
    const measured = lines.find((line) => line.style === "measured");
    const predictions = lines.filter((line) => line.style === "before" || line.style === "predicted");
    if (isError(chart)) {
      for (const line of predictions) line.y = measured.y.map((v, n) => v - line.y[n]);
      return [xs[0], predictions];
    }
    if (xs.length === 1) return [xs[0], lines];
    const joined = uPlot.join(lines.map((line) => [Array.from(xs[line.at]), Array.from(line.y)]));
    lines.forEach((line, n) => { line.y = joined[n + 1]; });
    return [joined[0], lines];
  }
  const isError = (chart) => showErrors[chart.group] && chart.lines.some((line) => line.style === "predicted");

  function series(line, chart, colour) {
    const [name, isDashed] = line.style.split(" "), stroke = colour(name);
    const dash = name === "before" ? [5, 3] : name === "floor" ? [4, 3] : isDashed ? [6, 3] : undefined;
    const bars = chart.stems ? { paths: uPlot.paths.bars({ size: [0.5, 3] }), fill: stroke } : {};
    return { stroke, width: name === "measured" || name === "floor" ? 1 : 1.4, dash, spanGaps: true, points: { show: false }, ...bars };
  }

  function options(chart, lines, width) {
    const colour = colours(), font = "11px system-ui, sans-serif";
    const axis = { stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), size: 5 }, font, labelFont: font };
    const xTitle = chart.start ? "time after " + shown(chart.start) + " s [s]" : chart.x;
    const isLogX = chart.log.includes("x"), isLogY = chart.log.includes("y"), isSmall = width < SMALL;
    const shade = (u) => {
      const top = u.valToPos(chart.band, "y", true), bottom = u.valToPos(-chart.band, "y", true);
      u.ctx.save(); u.ctx.globalAlpha = 0.3; u.ctx.fillStyle = colour("measured");
      u.ctx.fillRect(u.bbox.left, top, u.bbox.width, bottom - top); u.ctx.restore();
    };
    return {
      width, height: heightOf(chart), legend: { show: false },
      scales: {
        x: { time: false, distr: isLogX ? 3 : 1, ...(isLogX ? { range: (u, low, high) => [low, high] } : chart.span ? { range: chart.span } : {}) },
        y: { distr: isLogY ? 3 : 1, ...(isLogY ? { range: logRange } : chart.range ? { range: chart.range } : {}) },
      },
      cursor: { ...(chart.group ? { sync: { key: uPlot.sync(chart.group).key, setSeries: false, scales: ["x", null] } } : {}),
        drag: { x: true, y: false }, points: { size: 5 } },
      hooks: chart.band ? { drawClear: [shade] } : {},
      axes: [
        { ...axis, label: xTitle, size: 34, labelSize: 16, space: isSmall ? 40 : 50, ...(isLogX ? logAxis(axis, false) : {}) },
        { ...axis, label: isError(chart) ? "error " + chart.y : chart.y, size: isSmall ? 44 : 56, labelSize: 16,
          ...(isLogY ? logAxis(axis, true) : { values: (u, ticks, at, space, step) => ticked(ticks, step) }) },
      ],
      series: [{}].concat(lines.map((line) => series(line, chart, colour))),
    };
  }

  function draw(chart) {
    const place = document.getElementById(chart.id);
    if (!place) return;
    const old = drawn.get(chart.id), view = old && [old.scales.x.min, old.scales.x.max];
    if (old) old.destroy();
    const [x, lines] = columns(chart), width = Math.max(place.clientWidth, NARROWEST);
    const plot = new uPlot(options(chart, lines, width), [x].concat(lines.map((line) => line.y)), place);
    if (chart.group && view && view[0] != null) plot.setScale("x", { min: view[0], max: view[1] });
    drawn.set(chart.id, plot);
  }

  const drawAll = () => charts.forEach(draw);
  drawAll();
  let waiting = 0;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() =>
    drawn.forEach((plot, id) => plot.setSize({ width: Math.max(document.getElementById(id).clientWidth, NARROWEST), height: plot.height })), 100); });
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
