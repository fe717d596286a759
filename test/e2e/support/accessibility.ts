import axe, { type AxeResults, type Result } from "axe-core";
import type { Frame } from "playwright-core";

/** The part of the window that a page is in, by the name of its theme colour. */
export type Backdrop = "sideBar" | "panel" | "editor";

/** What somebody who does not see the page, or not well, cannot get past. */
const counted: readonly unknown[] = ["serious", "critical"];

/** A sentence for each place of a page that axe-core finds hard to use. */
export async function accessibilityFaults(page: Frame, backdrop: Backdrop): Promise<string[]> {
  // A page is transparent; what its text really stands on is outside of its frame, where axe-core cannot look. Set as a
  // property: the page's own policy forbids the attribute.
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
