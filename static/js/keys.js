// Keys: the keyboard of Sickbay. Every key has a visible control with the same effect; nothing is reachable by key alone.
// data-key="a" on a control presses it; data-go="i" on a link is followed by "g i"; j and k move the row cursor;
// "/" and Ctrl-K go to the field with data-search. Where rows offer the same key, it is for the row with the cursor.
(() => {
  const YEAR = 31536000;
  const root = document.documentElement;
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const typing = (el) => el.closest?.("input, textarea, select, [contenteditable]");
  let waitingForG = 0;

  function moveCursor(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.findIndex((r) => r.classList.contains("cursor"));
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    all[at]?.classList.remove("cursor");
    next.classList.add("cursor");
    (next.matches("a") ? next : next.querySelector("a"))?.focus();
    next.scrollIntoView({ block: "nearest" });
  }

  function press(key) {
    const all = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)];
    (all.find((el) => el.closest(".cursor")) ?? all.find((el) => !el.closest("[data-row]")))?.click();
  }

  function open(id) {
    const box = document.getElementById(id);
    if (box?.showModal && !box.open) box.showModal();
    else if (box?.popover) box.showPopover();
  }

  function search() {
    const field = document.querySelector("[data-search]");
    field?.focus();
    field?.select();
  }

  // The server reads the cookie and writes the attribute, so that a page never flashes in the other theme.
  function remember(name, value) {
    document.cookie = `${name}=${value};path=/;max-age=${value ? YEAR : 0};samesite=lax`;
  }

  addEventListener("keydown", (e) => {
    if (document.querySelector("dialog[open]")) return; // what lies behind a dialog is not pressed
    if ((e.ctrlKey || e.metaKey) && e.key === "k") { e.preventDefault(); return search(); }
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || typing(e.target)) return;
    if (waitingForG && Date.now() - waitingForG < 900) {
      waitingForG = 0;
      document.querySelector(`[data-go="${CSS.escape(e.key)}"]`)?.click();
    } else if (e.key === "g") waitingForG = Date.now();
    else if (e.key === "j") moveCursor(1);
    else if (e.key === "k") moveCursor(-1);
    else if (e.key === "/") { e.preventDefault(); search(); }
    else if (e.key === "Enter" && e.target === document.body) document.querySelector("[data-row].cursor a")?.click();
    else press(e.key);
  });

  addEventListener("click", (e) => {
    const opener = e.target.closest("[data-open]");
    if (opener) { e.preventDefault(); open(opener.dataset.open); }
    const theme = e.target.closest("[data-set-theme]");
    if (theme) {
      const to = theme.dataset.setTheme;
      if (to === "auto") delete root.dataset.theme; else root.dataset.theme = to;
      remember("sickbay_theme", to === "auto" ? "" : to);
    }
    const density = e.target.closest("[data-set-density]");
    if (density) {
      root.dataset.density = density.dataset.setDensity;
      remember("sickbay_density", density.dataset.setDensity);
      for (const b of density.parentElement.children) b.setAttribute("aria-pressed", String(b === density));
    }
  });

  // the server wrote the density; its switch shows it
  if (root.dataset.density)
    for (const b of document.querySelectorAll("[data-set-density]")) b.setAttribute("aria-pressed", String(b.dataset.setDensity === root.dataset.density));
  document.getElementById("rail-fold")?.addEventListener("change", (e) => remember("sickbay_rail", e.target.checked ? "folded" : ""));

  // a link such as /incidents/7#close opens the dialog that it names
  if (location.hash) open(location.hash.slice(1));
  // what was refused is shown again in the dialog that it came from
  document.querySelector("dialog[data-now]")?.showModal();

  function tick() {
    const now = new Date();
    for (const el of document.querySelectorAll("[data-clock='utc']")) el.textContent = now.toISOString().slice(11, 16);
    const zone = Intl.DateTimeFormat(root.lang, { timeZoneName: "short" }).formatToParts(now).find((p) => p.type === "timeZoneName").value;
    for (const el of document.querySelectorAll("[data-clock='local'], [data-clock='zone']")) {
      const isZone = el.dataset.clock === "zone";
      el.textContent = isZone ? zone : now.toTimeString().slice(0, 5);
      el.hidden = zone === "UTC";
    }
  }
  tick();
  setInterval(tick, 5000);

  // Live parts that stop being live say so; what is on the page stays.
  const quiet = (on) => {
    const bar = document.getElementById("stale");
    if (!bar) return;
    if (on && bar.hidden) bar.querySelector("[data-since]").textContent = new Date().toISOString().slice(11, 19);
    bar.hidden = !on;
  };
  for (const name of ["htmx:sendError", "htmx:timeout"]) addEventListener(name, () => quiet(true));
  addEventListener("htmx:afterRequest", (e) => {
    const status = e.detail.xhr?.status ?? 0;
    if (status >= 500) quiet(true);
    else if (status > 0) quiet(false);
  });
})();
