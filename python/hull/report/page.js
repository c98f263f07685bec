// Draws the page's charts in the reader's colour scheme and again when that changes.
(() => {
  const specs = JSON.parse(document.getElementById("charts").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const looks = () => {
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue("--text").trim();
    const line = style.getPropertyValue("--line").trim();
    const axis = {
      labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line,
      labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal", gridOpacity: 0.6,
      labelOverlap: "greedy",
    };
    const legend = { labelColor: text, titleColor: text };
    return { background: "transparent", view: { stroke: null }, axis, legend, font: getComputedStyle(document.body).fontFamily };
  };

  const draw = async () => {
    const options = {
      actions: false, renderer: "canvas", config: looks(),
      tooltip: { theme: dark.matches ? "dark" : "light" },
    };
    for (const place of document.querySelectorAll("[data-chart]")) {
      try {
        await vegaEmbed(place, specs[Number(place.dataset.chart)], options);
      } catch (error) {
        place.textContent = `This chart could not be drawn: ${error.message}`;
      }
    }
  };

  dark.addEventListener("change", draw);
  draw();
})();
