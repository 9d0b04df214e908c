// Light and dark: what the system prefers, until somebody says otherwise.

const THEMES = {
  light: { top: [0.86, 0.89, 0.93], low: [0.955, 0.964, 0.976], ground: [0.925, 0.935, 0.948], plain: [0.933, 0.945, 0.961], floor: [0.985, 0.988, 0.992], lines: [0.62, 0.67, 0.73], shadow: [0.10, 0.13, 0.20, 0.16] },
  dark: { top: [0.055, 0.066, 0.085], low: [0.115, 0.132, 0.158], ground: [0.088, 0.1, 0.12], plain: [0.075, 0.09, 0.11], floor: [0.135, 0.152, 0.178], lines: [0.30, 0.34, 0.395], shadow: [0, 0, 0, 0.42] },
};

class Theme {
  constructor(onChange) {
    this.preferred = window.matchMedia("(prefers-color-scheme: dark)");
    this.onChange = onChange;
    this.preferred.addEventListener("change", () => { this.said = null; this.apply(); });
    this.apply();
  }

  get name() { return this.said ?? (this.preferred.matches ? "dark" : "light"); }

  toggle() {
    this.said = this.name === "dark" ? "light" : "dark";
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.name;
    this.colours = THEMES[this.name];
    this.onChange(this);
  }
}

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
