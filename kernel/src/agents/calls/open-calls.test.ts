import { expect, test } from "vitest";
import { ownAccord, withSources } from "../../base/vocabulary/principal.ts";
import { OpenCalls } from "./open-calls.ts";

const ended = new Error("the guest has ended");

test("an answer may hold what its guest has read, before the call and while it was open", () => {
  const open = new OpenCalls();
  open.hear({ "downloads/a": "minds" });
  open.begin("call", withSources(ownAccord, ["agent:web"]));
  open.hear({ scripted: "minds" });
  expect(open.through("call")).toEqual({ "downloads/a": "minds", "agent:web": "all", scripted: "minds" });
});

test("race: a guest that answers and ends at once does not lose what it had read", () => {
  const open = new OpenCalls();
  open.hear({ "agent:web": "all" });
  open.begin("call", ownAccord);
  open.guestEnded(ended);
  expect(open.foreign).toEqual({});
  expect(open.through("call")).toEqual({ "agent:web": "all" });
  open.end("call");
  open.begin("next", ownAccord);
  expect(open.through("next")).toEqual({});
});
