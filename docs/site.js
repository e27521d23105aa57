// Copy buttons of code blocks are in landmarks without names, which screen readers cannot tell apart: number them.
const name = () => document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav) =>
  nav.setAttribute("aria-label", `Buttons of code block ${document.querySelectorAll(".md-code__nav[aria-label]").length + 1}`));
new MutationObserver(name).observe(document.documentElement, { childList: true, subtree: true });
name();
// A table wider than the page scrolls: by keys too.
const reach = () => document.querySelectorAll(".md-typeset__scrollwrap").forEach((one) =>
  one.scrollWidth > one.clientWidth ? one.setAttribute("tabindex", "0") : one.removeAttribute("tabindex"));
new ResizeObserver(reach).observe(document.documentElement);
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
reach();
