/* The theme: that of the machine until the button is pressed; remembered where the browser allows it. */
const theme = document.getElementById("theme");
const remembered = (name) => {
  try {
    if (name) localStorage.setItem("auepora-theme", name);
    return localStorage.getItem("auepora-theme");
  } catch {
    return name || null;
  }
};
const dress = (name) => {
  document.documentElement.dataset.theme = name;
  theme.setAttribute("aria-pressed", String(name === "dark"));
};
const machine = matchMedia("(prefers-color-scheme: dark)");
const worn = () => document.documentElement.dataset.theme || (machine.matches ? "dark" : "light");
const kept = remembered();
if (kept === "dark" || kept === "light") dress(kept);
theme.setAttribute("aria-pressed", String(worn() === "dark"));
machine.addEventListener("change", () => theme.setAttribute("aria-pressed", String(worn() === "dark")));
theme.addEventListener("click", () => dress(remembered(worn() === "dark" ? "light" : "dark")));
theme.hidden = false;
