import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import type { Host } from "../shared/host.ts";
import { keptOf } from "./kept.ts";
import type { Catalog, Usage, UsageContract, Used } from "./messages.ts";
import { CatalogPage, Outcome } from "./models.tsx";
import { UsagePage } from "./view.tsx";

const host: Host<UsageContract> = {
  ask: () => Promise.reject(new Error("Nobody is there.")),
  on: () => () => undefined,
};
const nothing = (): void => undefined;
const used = (key: string, more: Partial<Used> = {}): Used => ({
  key,
  requests: 2,
  input: 1_500,
  output: 20,
  cached: 0,
  ...more,
});
const usage = (more: Partial<Usage> = {}): Usage => ({
  days: [used("2026-02-28", { requests: 0, input: 0, output: 0 }), used("2026-03-01")],
  models: { rows: [used("lab/a")], more: 0 },
  agents: { rows: [used("test.agent"), used("")], more: 4 },
  hasUnpriced: true,
  ...more,
});
const page = (shown: Usage, kept?: unknown): string =>
  renderToString(<UsagePage usage={shown} kept={keptOf(kept)} keep={nothing} />);
const catalog = (more: Partial<Catalog> = {}): Catalog => ({
  providers: [
    {
      id: "lab",
      api: "ollama",
      state: "no_key",
      isLocal: false,
      foundBy: "the key in LAB",
      models: [{ id: "lab/a", contextTokens: 32_768, inputUsd: 1, outputUsd: 2, roles: ["default"] }],
      more: 3,
    },
  ],
  moreProviders: 0,
  roles: [{ name: "default", model: "lab/a" }],
  ...more,
});
const models = (shown: Catalog): string =>
  renderToString(
    <CatalogPage host={host} catalog={shown} isBusy={false} onRefresh={nothing} onStoreSecret={nothing} />,
  );

describe("usage", () => {
  it("is a picture with words for it, and a table with each of its days", () => {
    const html = page(usage());
    expect(html).toMatch(/role="img" aria-label="Tokens by day: used on 1 of 2 days, most on Sun, Mar 1/);
    expect(html.match(/class="day-bar"/g)).toHaveLength(2);
    const table = html.slice(html.indexOf("<details"), html.indexOf("</details>"));
    expect(table).toMatch(/Sun, Mar 1<.*1,500/s);
    expect(table).not.toContain("Feb 28");
  });

  it("without a known price has no dollars to choose, and says why", () => {
    const html = page(usage(), { days: 7, measure: "dollars" });
    expect(html).not.toContain("What the bars show");
    expect(html).toContain("No dollars: the prices of these models are not known.");
    expect(html).toMatch(/aria-label="Tokens by day/);
  });

  it("that cost nothing is shown in tokens", () => {
    const html = page(usage({ days: [used("2026-03-01", { usd: 0 })] }), { days: 7, measure: "dollars" });
    expect(html).toContain("$0.00");
    expect(html).not.toContain("What the bars show");
    expect(html).toMatch(/aria-label="Tokens by day/);
  });

  it("with prices shows dollars where they were chosen, and says what is not in them", () => {
    const days = [used("2026-03-01", { usd: 0.5 })];
    const html = page(usage({ days }), { days: 7, measure: "dollars" });
    expect(html).toMatch(/aria-label="Dollars by day: .*\$0\.50/);
    expect(html).toContain("The dollars are without the models whose price is not known.");
  });

  it("of nothing says so for the period that was chosen", () => {
    const days = [used("2026-03-01", { requests: 0, input: 0, output: 0 })];
    expect(page(usage({ days }), { days: 7, measure: "tokens" })).toContain(
      "No language model was used in the last 7 days.",
    );
  });

  it("says of what no agent asked that it did not, and how many rows are left out", () => {
    const html = page(usage());
    expect(html).toContain("No agent, such as a test");
    expect(html).toContain("and 4 more");
  });
});

describe("the models", () => {
  it("have their state, prices, context and roles in words", () => {
    const html = models(catalog());
    expect(html).toContain("no key · ollama · over the network · 4 models");
    expect(html).toMatch(/found by <bdi>the key in LAB/);
    expect(html).toMatch(/>a<.*default.*32\.8K.*\$1\.00.*\$2\.00/s);
    expect(html).toContain('aria-label="Test lab/a"');
    expect(html).toContain("and 3 more");
  });

  it("where none is set up, the first steps are said", () =>
    expect(models(catalog({ providers: [], roles: [] }))).toContain("No language model is set up."));

  it("that answered, and that did not, say so", () => {
    expect(renderToString(<Outcome testing={{ ok: true, firstTokenMs: 1_200 }} />)).toContain(
      "answers after 1,200 ms",
    );
    expect(renderToString(<Outcome testing={{ ok: false, message: "No key." }} />)).toContain("No key.");
  });
});

it("what a hidden page kept is taken only where it is what a page keeps", () => {
  expect(keptOf({ days: 90, measure: "dollars" })).toEqual({ days: 90, measure: "dollars" });
  for (const wrong of [undefined, { days: 8, measure: "tokens" }, { days: 7 }, "x"])
    expect(keptOf(wrong)).toEqual({ days: 30, measure: "tokens" });
});

describe("a stranger's words", () => {
  it.each(["<img src=x onerror=alert(1)>", "\u202Egnp.exe", "\u001b]8;;x\u0007click", "x".repeat(400)])(
    "are only words on the page: %j",
    (text) => {
      const html = [
        page(
          usage({
            days: [used(text), used(text)],
            models: { rows: [used(text)], more: 0 },
            agents: { rows: [used(text)], more: 0 },
          }),
        ),
        models(
          catalog({
            providers: [
              {
                id: text.slice(0, 80),
                api: text.slice(0, 40),
                state: "ready",
                isLocal: true,
                foundBy: text,
                models: [{ id: text, roles: [text.slice(0, 80)] }],
                more: 0,
              },
            ],
            roles: [{ name: text.slice(0, 80), model: text }],
          }),
        ),
        renderToString(<Outcome testing={{ ok: false, message: text }} />),
      ].join("");
      expect(html).toContain("By model");
      expect(html).not.toMatch(/<(img|script)|[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069]/);
      expect(html).not.toMatch(/<[^>"]*("[^"]*"[^>"]*)*\son[a-z]+=/);
    },
  );
});
