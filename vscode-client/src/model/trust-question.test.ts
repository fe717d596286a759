import { expect, it } from "vitest";
import { status } from "../testing/things.ts";
import { trustQuestion } from "./trust-question.ts";

const digest = status().trust.digest;

function withTrust(trusted: boolean, trust: Partial<ReturnType<typeof status>["trust"]>) {
  return status({ trusted, trust: { ...status().trust, ...trust } });
}

it("nothing is asked before the kernel's first status, or if everything is answered", () => {
  expect(trustQuestion(undefined)).toBeNull();
  expect(trustQuestion(withTrust(true, { asks: ["one asks for something"] }))).toBeNull();
});

it("an unanswered workspace is asked about, bound to its digest", () => {
  expect(trustQuestion(withTrust(false, { asks: ["one asks for a"] }))).toEqual({
    digest,
    title: "This workspace has agents. Choose what they may do; nothing runs before.",
  });
});

it("new requests are described as more than was allowed", () => {
  const question = trustQuestion(withTrust(true, { asks: ["old", "new"], pending: ["new"] }));
  expect(question?.title).toBe("The agents of this workspace ask for more than you allowed.");
});

it("a changed program is named", () => {
  const question = trustQuestion(
    withTrust(true, { pending: ["the program changed"], changedPrograms: ["dev.test.one"] }),
  );
  expect(question?.title).toBe("The program of dev.test.one has changed and waits for your approval.");
});

it("a refused connection is asked again even if nothing is listed", () => {
  expect(trustQuestion(withTrust(false, {}))).not.toBeNull();
});
