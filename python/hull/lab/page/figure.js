// Figure: the frame of a chart: title, value of now, the line that names the theory, text alternative.

/** @param {string} tag @param {string} name @param {string} [text] */
const make = (tag, name, text = "") => Object.assign(document.createElement(tag), { className: name, textContent: text });

export class Figure {
  /** @param {Element} place @param {string} title */
  constructor(place, title) {
    this.element = make("figure", "chart");
    this.inSight = true;
    const caption = make("figcaption", "");
    const head = make("div", "head");
    this.heading = make("h3", "");
    this.swatch = make("span", "swatch");
    this.name = make("span", "", title);
    this.scheme = make("span", "scheme");
    this.heading.append(this.swatch, this.name, this.scheme);
    this.value = make("span", "value");
    head.append(this.heading, this.value);
    this.theory = make("p", "theory");
    caption.append(head, this.theory);
    this.plot = make("div", "plot");
    this.plot.setAttribute("role", "img");
    this.plot.setAttribute("aria-label", title);
    this.note = make("p", "none");
    this.note.hidden = true;
    this.element.append(caption, this.plot, this.note);
    place.append(this.element);
  }

  /** @param {string} title @param {string} scheme @param {string} hue */
  showTitle(title, scheme, hue) {
    this.name.textContent = title;
    this.scheme.textContent = scheme;
    this.swatch.style.background = `var(--${hue})`;
  }

  /** Which colour is which, for curves of several schemes. @param {{title: string, hue: string}[]} schemes */
  showLegend(schemes) {
    this.scheme.replaceChildren(...schemes.flatMap(({ title, hue }) => {
      const swatch = make("span", "swatch");
      swatch.style.background = `var(--${hue})`;
      return [swatch, make("span", "", title)];
    }));
  }

  /** Text nodes are only touched when they change. @param {string} text */
  showValue(text) {
    if (this.value.textContent !== text) this.value.textContent = text;
  }

  /** @param {string} text @param {boolean} drawn whether there is a line to look for @param {string} full */
  showTheory(text, drawn, full) {
    if (this.theory.textContent === text) return;
    this.theory.textContent = text;
    this.theory.title = full || text;
    this.theory.classList.toggle("drawn", drawn);
  }

  /** Say why there is nothing to draw, or that there is. @param {string} text */
  showNote(text) {
    this.note.hidden = !text;
    this.note.textContent = text;
    this.element.classList.toggle("empty", Boolean(text));
  }

  /** @param {string} text */
  describe(text) { this.plot.setAttribute("aria-label", text); }
}
