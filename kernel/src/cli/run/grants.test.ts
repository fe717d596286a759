import { describe, expect, it } from "vitest";
import { grantsOf } from "../../base/consent-choice.ts";
import { UsageError } from "../command.ts";
import { aQuestion } from "../testing/fake-kernel.ts";
import { choiceOfGrants } from "./grants.ts";

const question = aQuestion();
const id = "dev.lares.storage";
const all = ["read_entries", "propose_actions/file.move", "propose_actions/file.delete"];

it.each<[string, string[], string[]]>([
  [id, all, ["photos", "letters"]],
  [`${id}=read_entries`, ["read_entries"], ["photos", "letters"]],
  [`${id}=propose_actions`, all.slice(1), ["photos", "letters"]],
  [
    `${id}=propose_actions/file.move@photos/2024,letters`,
    ["propose_actions/file.move"],
    ["photos/2024", "letters"],
  ],
  [`${id}@photos/`, all, ["photos"]],
  [`${id}=@`, [], []],
])("--grant %s", (grant, parts, folders) =>
  expect(grantsOf(choiceOfGrants(question, [grant]))).toEqual({
    extensions: [{ extension: id, parts, folders }],
    workspace: [],
  }),
);

describe("refuses", () => {
  it.each(["dev.nobody", `${id}=write_tags`, `${id}@music`, `${id}@photos-private`])("--grant %s", (grant) =>
    expect(() => choiceOfGrants(question, [grant])).toThrow(UsageError),
  );
});
