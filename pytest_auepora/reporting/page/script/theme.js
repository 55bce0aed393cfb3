/* The theme: that of the machine until the button is pressed; remembered where the browser allows it.  The button says
   where it leads. */
const theme = document.getElementById("theme");
const remember = (name, value) => {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return value || null;
  }
};
const machine = matchMedia("(prefers-color-scheme: dark)");
const worn = () => document.documentElement.dataset.theme || (machine.matches ? "dark" : "light");
const label = () => { theme.textContent = worn() === "dark" ? "Light theme" : "Dark theme"; };
const dress = (name) => {
  document.documentElement.dataset.theme = name;
  label();
};
const kept = remember("auepora-theme");
if (kept === "dark" || kept === "light") dress(kept);
label();
machine.addEventListener("change", label);
theme.addEventListener("click", () => dress(remember("auepora-theme", worn() === "dark" ? "light" : "dark") || (worn() === "dark" ? "light" : "dark")));
