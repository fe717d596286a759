import { expect, it } from "vitest";
import { status } from "../testing/things.ts";
import { trustQuestion } from "./trust-question.ts";

const digest = status().trust.digest;

function withTrust(trusted: boolean, trust: Partial<ReturnType<typeof status>["trust"]>) {
  return status({ trusted, trust: { ...status().trust, ...trust } });
}

it("nothing is asked before the kernel has spoken, or where all is allowed", () => {
  expect(trustQuestion(undefined)).toBeNull();
  expect(trustQuestion(withTrust(true, { asks: ["one asks for something"] }))).toBeNull();
});

it("everything is asked where nothing was allowed yet, bound to what is shown", () => {
  const question = trustQuestion(withTrust(false, { asks: ["one asks for a", "two asks for b"] }));
  expect(question).toEqual({
    digest,
    title: "This workspace asks for 2 things. Allow them?",
    asks: ["One asks for a", "Two asks for b"],
  });
});

it("only what is new is asked where the rest was allowed", () => {
  const question = trustQuestion(withTrust(true, { asks: ["old", "new"], pending: ["new"] }));
  expect(question?.asks).toEqual(["New"]);
});

it("a changed program is named", () => {
  const question = trustQuestion(
    withTrust(true, { pending: ["the program changed"], changedPrograms: ["dev.test.one"] }),
  );
  expect(question?.title).toBe("Allow the changed program of dev.test.one?");
});

it("a connection that was refused is asked again even where nothing is listed", () => {
  expect(trustQuestion(withTrust(false, {}))).toMatchObject({ asks: [] });
});

it("hostile names stay on their line and are seen", () => {
  const [ask] = trustQuestion(withTrust(false, { asks: ["evil\n• Nothing else\u202e asks"] }))?.asks ?? [];
  expect(ask).toBe("Evil • Nothing else<U+202E> asks");
});

it("nothing of a sentence is left out, however long a stranger makes its beginning", () => {
  const ask = `one asks to see files that match "${"x".repeat(5000)}", in the whole workspace`;
  const [shown] = trustQuestion(withTrust(false, { asks: [ask] }))?.asks ?? [];
  expect(shown).toContain("in the whole workspace");
});
