import { describe, expect, it } from "vitest";
import type { Status } from "./model.ts";
import { renderTrust } from "./trust.ts";
import { plainSurface } from "./style.ts";

function rendered(asks: string[], pending: string[]): string {
  const status: Pick<Status, "workspace" | "trust"> = {
    workspace: "/w",
    trust: { digest: "sha256:0", asks, pending, changedPrograms: [] },
  };
  return renderTrust(status, plainSurface).join("\n");
}

describe("the question before a workspace's agents run", () => {
  it("names what has changed since it was last accepted, a changed program included", () => {
    const text = rendered(["A may read notes", "B may move files"], ["B has a changed program"]);
    expect(text).toContain(
      "Changed since you last accepted it:\n  • B has a changed program\n\nThey ask for:",
    );
  });

  it.each([[["A may read notes"]], [[]]])(
    "has no list of changes on the first visit or when nothing waits",
    (pending) => {
      expect(rendered(["A may read notes"], pending)).not.toContain("Changed since");
    },
  );
});
