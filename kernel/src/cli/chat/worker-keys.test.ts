import { describe, expect, test } from "vitest";
import { aProcess, asks, begun, channel, ChatWalk, says, type EntryFields } from "./testing/chat-walk.ts";

const working = (size?: { columns: number; rows: number }, more: readonly EntryFields[] = []): ChatWalk =>
  begun(new ChatWalk(size)).entries(
    asks("Find doubles"),
    channel("Running"),
    aProcess("a", { task: "Compare", state: "Done", ended: "2026-11-20T10:00:04.000Z" }),
    { kind: "tool_call", call: "c", tool: "files/list", arguments: { path: "photos" }, process: "a" },
    { kind: "conclusion", text: "Three are doubles.", process: "a" },
    aProcess("b", { task: "Name the scans" }),
    ...more,
  );
const stops = ({ commands }: ChatWalk): number => commands.filter(({ kind }) => kind === "stop").length;

describe("the list of branches and workers", () => {
  test("opens the selected one with Enter and Ctrl-O, and stays until Esc", () => {
    const walk = working().press("/workers<return>");
    expect(walk.screen).toMatch(/▌ ▸ \[done\] Compare[^]*Three are doubles/);
    expect(walk.screen).not.toContain("files/list");
    expect(walk.press("<return>").screen).toMatch(/▌ ▾ \[done\] Compare[^]*files\/list photos[^]*Three/);
    expect(walk.press("<C-o>").screen).not.toContain("files/list");
    expect(walk.press("<down>").screen).toMatch(/▌ ▸ \[\.[^]*Name the scans/);
    expect(walk.press("<down><return>").screen).toMatch(/▌ ▾ [^]*Name the scans[^]*\/stop b stops it/);
    expect(walk.press("<up><up>").screen).toMatch(/▌ ▸ \[done\] Compare/);
    expect(walk.press("<escape>").state.panel).toBeNull();
    expect(walk.commands).toEqual([]);
  });

  test("scrolls a long row before it comes to the next one, and shows the one that is selected", () => {
    const long = says(Array.from({ length: 30 }, (_none, at) => `line ${at}\n`).join("\n"), { process: "a" });
    const walk = working({ columns: 60, rows: 20 }, [long]).press("/workers<return><return>");
    expect(walk.screen).not.toContain("line 20");
    for (let press = 0; !walk.screen.includes("line 29"); press++) {
      expect(press).toBeLessThan(100);
      expect(walk.press("<down>").state.panel).toMatchObject({ selected: 0 });
    }
    expect(walk.press("<end>").screen).toMatch(/▌ ▸ .*Name the scans/);
    expect(walk.press("<pageup><pageup>").state.panel).toMatchObject({ selected: 0 });
    expect(walk.press("<home>").screen).toContain("Branches and workers: 2");
  });

  test("that is empty stays too", () => {
    expect(begun().press("/workers<return><return>").screen).toContain("No branch or worker was started");
  });
});

describe("Esc that comes after what it was meant for is gone", () => {
  test.each([
    ["a view", "/workers<return>", "<escape>"],
    ["a view, with q", "/help<return>", "q"],
    ["an item", "<tab>", "<escape>"],
    ["proposed commands", "/wo", "<escape>"],
  ])("%s: stops nothing until it is pressed again", (_what, opens, leaves) => {
    const walk = working().press(`${opens}${leaves}<escape>`);
    expect(stops(walk)).toBe(0);
    expect(walk.screen).toContain("Esc once more stops what runs.");
    expect(stops(walk.press("<escape>"))).toBe(1);
  });

  test("a card that went by itself: stops nothing either", () => {
    const walk = working(undefined, [{ kind: "action", ref: "sea", state: "PendingApproval", process: "b" }]);
    walk.action("sea").press("<tab>").action("sea", { state: "Approved" });
    expect(walk.screen).toContain("The card is gone");
    expect(stops(walk.press("<escape>"))).toBe(0);
    expect(stops(walk.press("<escape>"))).toBe(1);
  });

  test("another key in between makes it a key of its own again", () => {
    expect(stops(working().press("/help<return><escape>x<escape>"))).toBe(1);
  });

  test("Enter leaves no view that it does nothing in", () => {
    const walk = working().press("/help<return><return>");
    expect(walk.state.panel).toMatchObject({ kind: "help" });
  });
});
