// What a test wants to know of the page.
(async () => {
  document.querySelectorAll("details").forEach((it) => (it.open = true));
  // The first paint may still be to come.
  for (let frame = 0; frame < 2 || (frame < 60 && !performance.getEntriesByType("paint").length); frame++) {
    await new Promise(requestAnimationFrame);
  }
  const name = (it) => (it.outerHTML ?? "").slice(0, 160);
  const svgs = [...document.querySelectorAll("svg")];
  const marks = (svg) => [...svg.querySelectorAll(".dot, .bar, .tonight, .past")];
  const drawn = (it) => { const box = it.getBoundingClientRect(); return box.width > 0 && box.height > 0; };

  // Contrast as WCAG 2.2 defines it (1.4.3), of every text with what is painted beneath it.
  const parse = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (it) => {
    for (let at = it; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const contrast = (it) => {
    const style = getComputedStyle(it);
    const colour = it.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(parse(colour)), light(ground(it))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const pale = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const it = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || it.closest("title")) continue;
    const key = `${it.tagName} ${it.className.baseVal ?? it.className} in ${it.parentElement.className}`;
    pale.set(key, Math.min(pale.get(key) ?? Infinity, contrast(it)));
  }

  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  const known = new Set(ids);
  const inBox = (it) => it.closest(".box, pre");
  return {
    inner: innerWidth,
    scroll: document.documentElement.scrollWidth,
    wide: [...document.querySelectorAll("body *")]
      .filter((it) => !inBox(it) && it.getBoundingClientRect().right > innerWidth + 0.5).slice(0, 5).map(name),
    dark: light(parse(getComputedStyle(document.body).backgroundColor)) < 0.2,
    plots: svgs.length,
    undrawn: svgs.filter((it) => !drawn(it) || !marks(it).length || !marks(it).every(drawn)).slice(0, 5).map(name),
    unlabelled: svgs.filter((it) => !it.ariaHidden && !it.querySelector("title")?.textContent)
      .concat([...document.querySelectorAll("[role=region]")].filter((it) => !it.ariaLabel && !it.getAttribute("aria-labelledby")))
      .slice(0, 5).map(name),
    pale: [...pale].filter(([, value]) => value < 4.5).slice(0, 8),
    dangling: [...document.querySelectorAll("a[href]")].map((it) => it.getAttribute("href"))
      .filter((it) => !it.startsWith("#") || !known.has(it.slice(1))).slice(0, 5),
    twice: ids.filter((id, at) => ids.indexOf(id) !== at).slice(0, 5),
    paint: Math.round(performance.getEntriesByType("paint")[0]?.startTime ?? -1),
  };
})()
