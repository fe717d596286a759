import { expect, it } from "vitest";
import { status } from "../testing/things.ts";
import { trustQuestion } from "./trust-question.ts";

const digest = status().trust.digest;

function withTrust(trusted: boolean, trust: Partial<ReturnType<typeof status>["trust"]>) {
  return status({ trusted, trust: { ...status().trust, ...trust } });
}

it("nothing is asked before the kernel has spoken, or where all is answered", () => {
  expect(trustQuestion(undefined)).toBeNull();
  expect(trustQuestion(withTrust(true, { asks: ["one asks for something"] }))).toBeNull();
});

it("a workspace that was never answered is asked about, bound to its digest", () => {
  expect(trustQuestion(withTrust(false, { asks: ["one asks for a"] }))).toEqual({
    digest,
    title: "This workspace has agents. Choose what they may do; nothing runs before.",
  });
});

it("what is new is said to be more than was allowed", () => {
  const question = trustQuestion(withTrust(true, { asks: ["old", "new"], pending: ["new"] }));
  expect(question?.title).toBe("The agents of this workspace ask for more than you allowed.");
});

it("a changed program is named", () => {
  const question = trustQuestion(
    withTrust(true, { pending: ["the program changed"], changedPrograms: ["dev.test.one"] }),
  );
  expect(question?.title).toBe("The program of dev.test.one has changed and waits for your yes.");
});

it("a connection that was refused is asked again even where nothing is listed", () => {
  expect(trustQuestion(withTrust(false, {}))).not.toBeNull();
});
