import type { Frame } from "playwright-core";

/** A change of a live region, which is what a screen reader says of its own accord. */
interface Announced {
  readonly politeness: "polite" | "assertive";
  readonly text: string;
}

/**
 * Runs in the page. Keeps what live regions take, by the rules of WAI-ARIA: a region is a `status`, `alert` or `log`,
 * or has `aria-live`; atomic ones are read as a whole; what appears together with its region is said of an alert only.
 */
const listener = `
  const announced = (globalThis.announced = []);
  globalThis.streamed = 0;
  let last = 0;
  const implied = { status: "polite", log: "polite", alert: "assertive" };
  const liveOf = (element) => element.getAttribute("aria-live") ?? implied[element.getAttribute("role")];
  const regionOf = (node) =>
    (node instanceof Element ? node : node.parentElement)?.closest("[aria-live], [role=status], [role=log], [role=alert]");
  const isAtomic = (region) =>
    (region.getAttribute("aria-atomic") ?? String(/^(status|alert)$/.test(region.getAttribute("role") ?? ""))) === "true";
  const keep = (politeness, text) => {
    if ((politeness === "polite" || politeness === "assertive") && text.trim() !== "")
      announced.push({ politeness, text: text.trim() });
  };
  new MutationObserver((changes) => {
    const atomic = new Set();
    for (const { type, target, addedNodes } of changes) {
      const region = regionOf(target);
      if (region != null && isAtomic(region)) atomic.add(region);
      else if (region != null && type === "characterData") keep(liveOf(region), target.data);
      else if (region != null) for (const node of addedNodes) keep(liveOf(region), node.textContent);
      for (const node of addedNodes)
        if (node instanceof Element)
          for (const alert of [node, ...node.querySelectorAll("*")]) if (alert.matches("[role=alert]")) atomic.add(alert);
    }
    for (const region of atomic) if (region.isConnected) keep(liveOf(region), region.textContent);
    const size = document.querySelector("[role=log] [aria-busy=true]")?.textContent.length ?? 0;
    if (size > last) globalThis.streamed++;
    last = size;
  }).observe(document.body, { childList: true, subtree: true, characterData: true });
`;

/** Begins to keep what the page announces. */
export async function listenIn(page: Frame): Promise<void> {
  await page.evaluate(listener);
}

export function announcedIn(page: Frame): Promise<readonly Announced[]> {
  return page.evaluate<readonly Announced[]>("globalThis.announced");
}

/** Returns how often a text in the log grew that was not finished. */
export function streamedIn(page: Frame): Promise<number> {
  return page.evaluate<number>("globalThis.streamed");
}
