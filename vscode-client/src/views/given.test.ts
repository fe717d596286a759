import { expect, it } from "vitest";
import { given } from "./given.ts";

it("leaves out of a request what is undefined, and nothing else", () =>
  expect(given({ agent: undefined, level: "info", text: "", limit: 0, flag: false, none: null })).toEqual({
    level: "info",
    text: "",
    limit: 0,
    flag: false,
    none: null,
  }));
