import { Type, type Static } from "typebox";
import { Hash } from "../../base/vocabulary/common.ts";
import { define } from "../define.ts";
import { Status } from "./status.ts";

/** Parts and folders that one answer may name for one extension. */
export const maxGrantedParts = 2_048;
/** Folders that a person may choose for one extension. */
export const maxGrantedFolders = 256;

const Change = Type.Enum(["new", "changed", "unchanged"], {
  description: "Compared with the person's last answer; all is new where there was none",
});

export const TrustPart = Type.Object(
  {
    id: Type.String({ description: "Names the part in an answer" }),
    group: Type.Enum(["see", "change", "other"], {
      description: "What it lets the agent do: see files, propose or make changes, anything else",
    }),
    title: Type.String({ description: "In words for a person" }),
    detail: Type.Optional(Type.String({ description: "What follows from it, in a sentence" })),
    permission: Type.Optional(Type.String({ description: "As manifests name it" })),
    change: Change,
    granted: Type.Boolean({ description: "Counts now" }),
    answered: Type.Boolean({ description: "The person has already said yes or no to it as it is now" }),
  },
  { description: "The smallest thing that a person can grant or withhold" },
);
export type TrustPart = Static<typeof TrustPart>;

export const TrustFolder = Type.Object(
  {
    path: Type.String({ description: 'As in an answer; "." is the whole workspace' }),
    title: Type.String(),
    requested: Type.Boolean({
      description: "The documents name it; false for a folder inside a requested one that the person chose",
    }),
    change: Change,
    granted: Type.Boolean(),
    answered: Type.Boolean(),
  },
  { description: "A folder in which an extension wants to work" },
);
export type TrustFolder = Static<typeof TrustFolder>;

export const TrustFact = Type.Object(
  {
    kind: Type.Enum(["trigger", "tool", "model", "host", "memory", "file", "setting"], {
      description:
        "What its program runs on, the tools it offers, the models and hosts it names, the shared memories it may open, the files inside its program, its configuration",
    }),
    text: Type.String(),
    change: Change,
  },
  { description: "Comes with the extension as a whole and is granted with it" },
);
export type TrustFact = Static<typeof TrustFact>;

export const TrustCard = Type.Object({
  extension: Type.String({ description: "Its id" }),
  name: Type.String(),
  description: Type.Optional(Type.String({ description: "The extension's own words" })),
  version: Type.String(),
  origin: Type.String({ description: "Where its folder really lies" }),
  state: Change,
  granted: Type.Boolean({ description: "It may run, with the parts and folders that are granted" }),
  answered: Type.Boolean({ description: "Nothing of it waits for an answer" }),
  changes: Type.Array(Type.String(), {
    description: "What changed since the last answer, a sentence each; empty where it is new or unchanged",
  }),
  program: Type.Object({
    change: Change,
    fault: Type.Optional(Type.String({ description: "Why it cannot run" })),
    diff: Type.Optional(
      Type.Object(
        { files: Type.Integer(), added: Type.Integer(), removed: Type.Integer() },
        {
          description: "Files and lines that differ from the accepted program; absent where it was not kept",
        },
      ),
    ),
  }),
  parts: Type.Array(TrustPart),
  folders: Type.Array(TrustFolder),
  facts: Type.Array(TrustFact),
  cannot: Type.Array(Type.String(), {
    description: "What it cannot do even with everything granted that it asks for",
  }),
});
export type TrustCard = Static<typeof TrustCard>;

export const TrustQuestion = Type.Object({
  digest: Hash,
  trusted: Type.Boolean({ description: "Of this connection" }),
  answered: Type.Boolean({ description: "Nothing waits for an answer" }),
  since: Type.Union([Type.String(), Type.Null()], { description: "When the person answered last" }),
  extensions: Type.Array(TrustCard),
  workspace: Type.Array(TrustPart, {
    description: "What the workspace's own document asks for beside its extensions",
  }),
});
export type TrustQuestion = Static<typeof TrustQuestion>;

export const TrustGrants = Type.Object(
  {
    extensions: Type.Array(
      Type.Object(
        {
          extension: Type.String({ maxLength: 256 }),
          parts: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: maxGrantedParts }),
          folders: Type.Array(Type.String({ maxLength: 4_096 }), {
            maxItems: maxGrantedFolders,
            description: "Each a requested folder or one inside it, in exactly this spelling",
          }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 1_024, description: "Those that may run; any other is withheld" },
    ),
    workspace: Type.Array(Type.String({ maxLength: 4_096 }), { maxItems: maxGrantedParts }),
  },
  {
    additionalProperties: false,
    description:
      "What of the question is granted; everything that is not named is withheld, until another answer. It needs `digest`",
  },
);
export type TrustGrants = Static<typeof TrustGrants>;

const LineCount = Type.Integer({ minimum: 0, description: "Lines" });

export const TrustProgram = Type.Object({
  digest: Hash,
  kept: Type.Boolean({
    description: "The sources of the accepted program are kept; where they are not, everything is `added`",
  }),
  reason: Type.Optional(Type.String({ description: "Why there is nothing to compare" })),
  files: Type.Array(
    Type.Object({
      path: Type.String({ description: "Relative to the extension's folder" }),
      change: Type.Enum(["added", "removed", "changed", "unchanged"]),
      added: LineCount,
      removed: LineCount,
      diff: Type.Optional(
        Type.String({ description: "Unified; only of the file that was asked for by its `path`" }),
      ),
    }),
  ),
});
export type TrustProgram = Static<typeof TrustProgram>;

export const trustRequests = define({
  /**
   * An explicit act of a person. DigestMismatch if `digest` is no longer the one that is shown. Without `grants`,
   * grants everything that `lares/status` lists under `asks`.
   */
  "lares/trust": {
    params: Type.Object({
      trusted: Type.Boolean(),
      digest: Type.Optional(Hash),
      grants: Type.Optional(TrustGrants),
    }),
    result: Status,
  },
  /** Returns everything that the documents ask for, in parts. Open to connections that are not trusted. */
  "lares/trust/question": { params: Type.Object({}), result: TrustQuestion },
  /** Returns what changed in an extension's program since it was accepted. Open to connections that are not trusted. */
  "lares/trust/program": {
    params: Type.Object({
      extension: Type.String({ maxLength: 256 }),
      path: Type.Optional(Type.String({ maxLength: 4_096 })),
    }),
    result: TrustProgram,
  },
});
