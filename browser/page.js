// Looks at the page that a browser shows and returns its faults, each as one line of text.
() => {
  const root = document.documentElement;
  const width = root.clientWidth;
  const faults = new Set();

  const named = (element) => {
    const kind = element.className && typeof element.className === "string" ? `.${element.className.split(" ")[0]}` : "";
    const text = (element.textContent || "").trim().replace(/\s+/g, " ").slice(0, 40);
    return `<${element.localName}${kind}> "${text}"`;
  };
  const visible = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  // Content may reach beyond the window only inside of a box that scrolls, or ends with an ellipsis, within the window.
  const kept = (content) => {
    for (let box = content.parentElement; box && box !== document.body; box = box.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(box);
      const cut = overflowX === "hidden" && textOverflow === "ellipsis";
      const inside = box.getBoundingClientRect().right <= width + 1;
      if (inside && (cut || overflowX === "auto" || overflowX === "scroll")) return true;
    }
    return false;
  };
  const wide = (content, box, element) => {
    if (box.width > 1 && box.height > 1 && box.right > width + 1 && visible(element) && !kept(content)) {
      faults.add(`wide: ${named(element)} ends at ${Math.round(box.right)} px in a window of ${width} px`);
    }
  };
  if (root.scrollWidth > width + 1) faults.add(`wide: the page has ${root.scrollWidth} px in a window of ${width} px`);
  for (const element of document.body.querySelectorAll(":not(svg *)")) {
    wide(element, element.getBoundingClientRect(), element);
  }

  for (const image of document.querySelectorAll("img:not([alt])")) faults.add(`no alt text: ${image.src}`);
  // A picture of a page is described by more than its kind.
  for (const image of document.querySelectorAll("article img")) {
    if (image.hasAttribute("alt") && !image.alt.trim().includes(" ")) faults.add(`no words: "${image.alt}" of ${image.src}`);
  }
  for (const image of document.querySelectorAll("svg[role=img]:not([aria-label], [aria-labelledby])")) {
    if (!image.querySelector(":scope > title")) faults.add(`no label: ${named(image)}`);
  }
  for (const element of document.querySelectorAll("a[href], button")) {
    const name = element.textContent.trim() || element.ariaLabel || element.title || element.querySelector("img[alt]");
    if (!name && visible(element)) faults.add(`no text: ${element.outerHTML.slice(0, 80)}`);
  }

  // The words of a picture can be read at about the size that it has by itself.
  for (const image of document.querySelectorAll("article p > img")) {
    if (image.clientWidth < Math.min(image.naturalWidth, 560)) {
      faults.add(`small: ${image.alt} has ${image.clientWidth} of ${image.naturalWidth} px`);
    }
  }

  // The contrast of text with its background, by https://www.w3.org/TR/WCAG22/#contrast-minimum
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  const colour = (text) => {
    if (!parsed.has(text)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = text;
      pixel.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pixel.getImageData(0, 0, 1, 1).data;
      parsed.set(text, [red, green, blue, alpha / 255]);
    }
    return parsed.get(text);
  };
  const over = (top, below) => [0, 1, 2].map((part) => top[part] * top[3] + below[part] * (1 - top[3])).concat(1);
  const background = (element) => {
    const layers = [];
    for (let box = element; box; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.backgroundImage !== "none" && !style.backgroundImage.includes("gradient")) return null;
      layers.push(colour(style.backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    const dark = getComputedStyle(root).colorScheme.startsWith("dark") ||
      (getComputedStyle(root).colorScheme === "light dark" && matchMedia("(prefers-color-scheme: dark)").matches);
    return layers.reduceRight((below, layer) => over(layer, below), dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const luminance = (each) => {
    const [red, green, blue] = each.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const told = new Set();
  const range = document.createRange();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!/[\p{L}\p{N}]/u.test(texts.currentNode.data) || element.closest("script, style, title, noscript")) continue;
    const style = getComputedStyle(element);
    const drawn = element.closest("svg");
    range.selectNodeContents(texts.currentNode);
    if (!drawn) wide(texts.currentNode, range.getBoundingClientRect(), element);
    if (!visible(element) || (drawn && style.stroke !== "none")) continue; // outlined text stands on its own outline
    const below = background(drawn ? drawn.parentElement : element);
    if (!below) continue;
    let faint = 1;
    for (let box = element; box; box = box.parentElement) faint *= Number(getComputedStyle(box).opacity);
    const [red, green, blue, alpha] = colour(drawn ? style.fill : style.color);
    const [light, dark] = [over([red, green, blue, alpha * faint], below), below].map(luminance).sort((a, b) => b - a);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const key = `${style.color} ${style.fill} ${below} ${faint} ${large}`;
    if (contrast < (large ? 3 : 4.5) && !told.has(key)) {
      told.add(key);
      faults.add(`faint: ${named(element)} has a contrast of ${contrast.toFixed(2)}`);
    }
  }
  return [...faults];
}
