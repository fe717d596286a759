import { describe, expect, it } from "vitest";
import {
  cardState,
  choiceFor,
  countOf,
  grantedChoice,
  grantsOf,
  isTicked,
  keptChoice,
  toggleCard,
  toggleFolder,
  togglePart,
  toggleWorkspace,
  wholeChoice,
  type ChoosableCard,
} from "./consent-choice.ts";

const part = (id: string, granted = false) => ({ id, granted });
const folder = (path: string, granted = false, requested = true) => ({ path, granted, requested });
const card: ChoosableCard = {
  extension: "dev.new",
  granted: false,
  parts: [part("read_entries"), part("write_tags")],
  folders: [folder("photos"), folder("notes")],
};
const known: ChoosableCard = {
  extension: "dev.known",
  granted: true,
  parts: [part("read_entries", true), part("write_tags")],
  folders: [folder("."), folder("notes/a", true, false)],
};
const question = { extensions: [card, known], workspace: [part("hidden")] };
const before = grantedChoice(question);

it("new parts start unticked, granted ones start ticked", () => {
  expect(grantsOf(before)).toEqual({
    extensions: [{ extension: "dev.known", parts: ["read_entries"], folders: ["notes/a"] }],
    workspace: [],
  });
  expect([cardState(before, card), cardState(before, known)]).toEqual(["none", "some"]);
});

it("the whole choice has everything that is requested, and no folder that a person added", () => {
  expect(grantsOf(wholeChoice(question))).toEqual({
    extensions: [
      { extension: "dev.new", parts: ["read_entries", "write_tags"], folders: ["photos", "notes"] },
      { extension: "dev.known", parts: ["read_entries", "write_tags"], folders: ["."] },
    ],
    workspace: ["hidden"],
  });
  expect(countOf(wholeChoice(question), question)).toEqual({ extensions: 2, parts: 5, isAll: true });
});

it("a card's box ticks all of the card, and unticks it again", () => {
  const all = toggleCard(before, known);
  expect(cardState(all, known)).toBe("all");
  expect(cardState(toggleCard(all, known), known)).toBe("none");
});

describe("parts and folders", () => {
  it("ticking the first part ticks the folders; unticking the last one leaves nothing to run", () => {
    const one = togglePart(before, card, "read_entries");
    expect([...choiceFor(one, card).folders]).toEqual(["photos", "notes"]);
    const none = toggleFolder(
      toggleFolder(togglePart(one, card, "read_entries"), card, "photos"),
      card,
      "notes",
    );
    expect(choiceFor(none, card).isOn).toBe(false);
  });

  it("ticking a folder ticks those inside it", () => {
    const whole = toggleFolder(before, known, ".");
    expect([...choiceFor(whole, known).folders]).toEqual(["."]);
    expect(isTicked(choiceFor(whole, known), "notes/b")).toBe(true);
    expect(isTicked(choiceFor(before, known), "notes/ab")).toBe(false);
  });
});

it("when the question changes, ticks stay and new parts are not ticked", () => {
  const ticked = toggleWorkspace(toggleCard(before, card), "hidden");
  const next = {
    extensions: [
      { ...card, parts: [part("read_entries"), part("dispatch_jobs")], folders: [folder("photos")] },
    ],
    workspace: [part("other")],
  };
  expect(grantsOf(keptChoice(ticked, next))).toEqual({
    extensions: [{ extension: "dev.new", parts: ["read_entries"], folders: ["photos"] }],
    workspace: [],
  });
});

it("an extension that requests nothing is allowed by its box alone", () => {
  const bare: ChoosableCard = { extension: "dev.bare", granted: false, parts: [], folders: [] };
  const bareQuestion = { extensions: [bare], workspace: [] };
  const none = grantedChoice(bareQuestion);
  expect(cardState(none, bare)).toBe("none");
  expect(grantsOf(toggleCard(none, bare)).extensions).toEqual([
    { extension: "dev.bare", parts: [], folders: [] },
  ]);
});
