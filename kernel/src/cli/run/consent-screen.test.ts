import { describe, expect, it } from "vitest";
import { grantsOf, type Choice } from "../../base/consent-choice.ts";
import { displayWidth } from "../render/width.ts";
import { noStyle } from "../render/style.ts";
import { aQuestion } from "../testing/fake-kernel.ts";
import type { TrustProgram, TrustQuestion } from "../../base/vocabulary/trust.ts";
import { ConsentScreen } from "./consent-screen.ts";

/** A screen with these rows and columns, and a person's keys. */
function screenOf(
  question: TrustQuestion,
  {
    rows = 200,
    width = 80,
    program = {},
  }: { rows?: number; width?: number; program?: Partial<TrustProgram> } = {},
) {
  const screen = new ConsentScreen({
    question,
    surface: () => ({ style: noStyle, width }),
    program: (_extension, path) =>
      Promise.resolve({
        digest: question.digest,
        kept: true,
        files: [
          {
            path: "agent.ts",
            change: "changed",
            added: 1,
            removed: 1,
            ...(path === undefined ? {} : { diff: "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\u001b[2J\n" }),
          },
        ],
        ...program,
      }),
  });
  const draw = (): string => {
    const { lines, foot, focus } = screen.frame(rows);
    const top = Math.max(0, focus - rows + foot.length + 3);
    const shown = lines.slice(top, top + rows - foot.length - 1);
    screen.shown(top, top + shown.length - 1);
    return [...shown, ...foot].join("\n");
  };
  draw();
  const press = async (...keys: string[]): Promise<Choice | null | undefined> => {
    for (const key of keys) {
      const isText = key.length === 1;
      const end = await screen.key({ name: key, text: isText ? key : "", shift: false });
      if (end !== null) return end.result;
      draw();
    }
    return undefined;
  };
  return { draw, press };
}

const grants = (choice: Choice | null | undefined) =>
  choice === null || choice === undefined ? choice : grantsOf(choice).extensions;

it("shows an agent's permissions, folders, limits, and the keys", () => {
  const text = screenOf(aQuestion()).draw();
  for (const words of [
    "> [ ] Storage 0.4.0  (new)",
    "May see",
    "[ ] All files: names and content",
    "May change",
    "Where",
    "[ ] photos",
    "change what is in a file, reach the internet",
    "0 of 1 agent",
    "Space tick",
    "a allow all",
    "Esc not now",
  ])
    expect(text).toContain(words);
});

describe("a person", () => {
  it("ticks a permission together with the folders, and unticks a folder", async () => {
    const { press } = screenOf(aQuestion());
    expect(grants(await press("down", "space", "down", "down", "down", "space", "return"))).toEqual([
      { extension: "dev.lares.storage", parts: ["read_entries"], folders: ["letters"] },
    ]);
  });
  it("allows everything with y, and nothing with n", async () => {
    expect(grants(await screenOf(aQuestion()).press("y"))?.[0]?.parts).toHaveLength(3);
    expect(await screenOf(aQuestion()).press("n")).toBeNull();
    expect(await screenOf(aQuestion()).press("escape")).toBeNull();
  });
  it("sees what Enter does; with nothing ticked it does nothing, and they are asked again", async () => {
    const { press, draw } = screenOf(aQuestion());
    const last = (): string => draw().split("\n").at(-1) ?? "";
    expect(last()).toBe("Enter: allows nothing, and asks again next time");
    await press("down", "space");
    expect(last()).toBe("Enter: allows what is ticked (1 agent, 1 permission) and nothing else");
    await press("up", "space");
    expect(last()).toBe("Enter: allows everything that is requested");
    await press("space");
    expect(last()).toBe("Enter: allows nothing, and asks again next time");
    expect(await press("return")).toBeNull();
  });
  it("revokes everything with Enter if something was allowed before", async () => {
    const { extensions } = aQuestion();
    const granted = extensions[0]!.parts.map((part) => ({ ...part, granted: true }));
    const folders = extensions[0]!.folders.map((folder) => ({ ...folder, granted: true }));
    const { press, draw } = screenOf(aQuestion({ granted: true, parts: granted, folders }));
    await press("space");
    expect(draw().split("\n").at(-1)).toBe("Enter: revokes everything that was allowed; no agent runs");
    expect(grants(await press("return"))).toEqual([]);
  });
  it("sees the number of files in a folder, if it is known", () => {
    const [first, second] = aQuestion().extensions[0]!.folders;
    const folders = [
      { ...first!, files: 1_204 },
      second!,
      { ...second!, path: "huge", title: "huge", files: 100_000 },
    ];
    const text = screenOf(aQuestion({ folders })).draw();
    expect(text).toMatch(/photos · 1,204 files {2}\(new\)/);
    expect(text).toMatch(/letters {2}\(new\)/);
    expect(text).toMatch(/huge · 100,000 files or more/);
  });
  it("names a folder inside a requested one, and no other", async () => {
    const { press, draw } = screenOf(aQuestion());
    await press("down", "space", "down", "down", "down", "f", ".", ".", "/", "x", "return");
    expect(draw()).toContain('without ".."');
    await press("escape", "f", "2", "0", "2", "4", "return");
    expect(draw()).toContain("photos/2024  (chosen by you)");
    expect(grants(await press("return"))?.[0]?.folders).toEqual(["letters", "photos/2024"]);
  });
  it("opens the program and returns to the same row", async () => {
    const { press, draw } = screenOf(aQuestion());
    await press("down", "d");
    expect(draw()).toMatch(/agent\.ts\nchanged, \+1 -1\n@@ -1 \+1 @@\n- old\n\+ new␛\[2J/);
    await press("escape");
    expect(draw()).toContain("> ");
  });
});

describe("on a small terminal", () => {
  const facts = Array.from({ length: 40 }, (_, index) => ({
    kind: "tool" as const,
    text: `tool ${index}`,
    change: "new" as const,
  }));
  it("nothing is allowed before it was visible", async () => {
    const { press } = screenOf(aQuestion({ facts }), { rows: 24 });
    expect(await press("y")).toBeUndefined();
    let answer: Choice | null | undefined;
    for (let keys = 0; keys < 20 && answer === undefined; keys++) answer = await press("y");
    expect(grants(answer)?.[0]?.parts).toHaveLength(3);
  });
  it("Enter continues beside the hint as the same key does, and answers nothing", async () => {
    const { press, draw } = screenOf(aQuestion({ facts }), { rows: 22, width: 44 });
    expect(await press("a")).toBeUndefined();
    const seen = new Set<string>();
    for (let keys = 0; keys < 40 && draw().includes("more text to read"); keys++) {
      expect(draw()).toContain("Enter: continues, and answers nothing");
      for (const line of draw().split("\n")) seen.add(line.trim().replace(/^> /, ""));
      expect(await press("return")).toBeUndefined();
    }
    for (const { text } of facts) expect(seen).toContain(text);
    expect(draw()).toContain("Enter: allows nothing, and asks again next");
    expect(grants(await press("a"))?.[0]?.parts).toHaveLength(3);
  });
  it("the parts ticked by a card's checkbox must be read before they are allowed", async () => {
    const parts = Array.from({ length: 40 }, (_, index) => ({
      ...aQuestion().extensions[0]!.parts[0]!,
      id: `emit_events/${index}`,
    }));
    const { press } = screenOf(aQuestion({ parts }), { rows: 24 });
    expect(await press("space", "return")).toBeUndefined();
  });
  it("moving down shows every line", async () => {
    const { press, draw } = screenOf(aQuestion({ facts }), { rows: 24 });
    const seen = new Set<string>();
    for (let keys = 0; keys < 40; keys++) {
      for (const line of draw().split("\n")) seen.add(line.trim().replace(/^> /, ""));
      await press("down");
    }
    for (const { text } of facts) expect(seen).toContain(text);
  });
  it.each([40, 80, 24])("no line is wider than %i columns", (width) => {
    const long = "x".repeat(300);
    const question = aQuestion({ name: `Notes ${long}`, changes: [long], origin: `from ${long}` });
    for (const line of screenOf(question, { width }).draw().split("\n"))
      expect(displayWidth(line)).toBeLessThanOrEqual(width);
  });
});
