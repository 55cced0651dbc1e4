// Light or dark, before anything is drawn: as the user chose here, else as the system has it.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("daemok-theme");
  } catch {
    // nothing is stored here: the system's choice holds
  }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
