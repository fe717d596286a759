import axe, { type AxeResults, type Result } from "axe-core";
import type { Frame } from "playwright-core";

/** The part of the window that contains a page, by the name of its theme colour. */
export type Backdrop = "sideBar" | "panel" | "editor";

/** The severities that block a person who cannot see the page well. */
const counted: readonly unknown[] = ["serious", "critical"];

/** Returns a sentence for each place of a page that axe-core reports. */
export async function accessibilityFaults(page: Frame, backdrop: Backdrop): Promise<string[]> {
  // A page is transparent; its real background is outside its frame, where axe-core cannot look. Set as a property: the
  // page's own policy forbids the attribute.
  await page.locator("html").evaluate((root: { style: { background: string } }, name) => {
    root.style.background = `var(--vscode-${name}-background)`;
  }, backdrop);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.filter(({ impact }) => counted.includes(impact)).flatMap(sentencesOf);
}

function sentencesOf({ id, nodes }: Result): string[] {
  return nodes.map(
    ({ target, html, failureSummary = "" }) =>
      `${id} at ${target.join(" ")}: ${html.slice(0, 200)}\n${failureSummary}`,
  );
}
