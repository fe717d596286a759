import { expect, it } from "vitest";
import { given } from "./given.ts";

it("removes undefined members from a request, and nothing else", () =>
  expect(given({ agent: undefined, level: "info", text: "", limit: 0, flag: false, none: null })).toEqual({
    level: "info",
    text: "",
    limit: 0,
    flag: false,
    none: null,
  }));
