import { Type, type Static } from "typebox";
import { maxCountedFiles } from "../file-count.ts";
import { HashOf } from "./common.ts";

/** Parts and folders that one answer may name for one extension. */
const maxGrantedParts = 2_048;
/** Folders that a person may choose for one extension. */
const maxGrantedFolders = 256;

const Change = Type.Enum(["new", "changed", "unchanged"], {
  description: "How it compares with the person's last answer; everything is new if there was none",
});

export const TrustPart = Type.Object(
  {
    id: Type.String({ description: "What an answer names the part by" }),
    group: Type.Enum(["see", "change", "other"], {
      description: "What it lets the agent do: see files, propose or make changes, or something else",
    }),
    title: Type.String({ description: "What is asked for, in words for a person" }),
    detail: Type.Optional(Type.String({ description: "What follows from granting it, in a sentence" })),
    permission: Type.Optional(
      Type.String({ description: "The permission it belongs to, as manifests name it" }),
    ),
    change: Change,
    granted: Type.Boolean({ description: "It is in force now" }),
    answered: Type.Boolean({ description: "The person has said yes or no to it as it is now" }),
  },
  { description: "The smallest thing that a person can grant or withhold" },
);
export type TrustPart = Static<typeof TrustPart>;

export const TrustFolder = Type.Object(
  {
    path: Type.String({ description: 'What an answer names the folder by; "." is the whole workspace' }),
    title: Type.String({ description: "The folder, in words for a person" }),
    requested: Type.Boolean({
      description: "The documents name it; false for a folder inside a requested one that the person chose",
    }),
    change: Change,
    granted: Type.Boolean({ description: "It is in force now" }),
    answered: Type.Boolean({ description: "The person has said yes or no to it" }),
    files: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxCountedFiles,
        description: `Files in it, however deep, that the index lists; ${maxCountedFiles} stands for more, too. Absent until the index is complete, which it is not before the first yes`,
      }),
    ),
  },
  { description: "A folder in which an extension wants to work" },
);
export type TrustFolder = Static<typeof TrustFolder>;

export const TrustFact = Type.Object(
  {
    kind: Type.Enum(["trigger", "mind", "tool", "model", "host", "memory", "file", "setting"], {
      description:
        "What it is about: what the program is woken by, what its mind may do in conversations, a tool that it offers, a model or host that it names, a shared memory that it may open, a file inside its program, its configuration",
    }),
    text: Type.String({ description: "The fact, in words for a person" }),
    change: Change,
  },
  { description: "What comes with the extension as a whole and is granted with it" },
);
export type TrustFact = Static<typeof TrustFact>;

export const TrustCard = Type.Object(
  {
    extension: Type.String({ description: "The extension's id" }),
    name: Type.String({ description: "The extension's name" }),
    description: Type.Optional(Type.String({ description: "What it is for, in its own words" })),
    version: Type.String({ description: "The extension's version" }),
    origin: Type.String({ description: "Where its folder is, in words for a person" }),
    state: Change,
    granted: Type.Boolean({ description: "It may run, with the parts and folders that are granted" }),
    answered: Type.Boolean({ description: "Nothing of it waits for an answer" }),
    changes: Type.Array(Type.String(), {
      description: "What changed since the last answer, a sentence each; empty where it is new or unchanged",
    }),
    program: Type.Object(
      {
        change: Change,
        fault: Type.Optional(Type.String({ description: "Why the program cannot run" })),
        diff: Type.Optional(
          Type.Object(
            {
              files: Type.Integer({ description: "Files that differ" }),
              added: Type.Integer({ description: "Lines that were added" }),
              removed: Type.Integer({ description: "Lines that were removed" }),
            },
            {
              description: "How it differs from the accepted program; absent where that was not kept",
            },
          ),
        ),
      },
      { description: "The program that the agent runs" },
    ),
    parts: Type.Array(TrustPart, { description: "The permissions that it asks for, in parts" }),
    folders: Type.Array(TrustFolder, { description: "The folders that it asks for" }),
    facts: Type.Array(TrustFact, { description: "What else a person should know of it" }),
    cannot: Type.Array(Type.String(), {
      description: "What it cannot do, even with everything granted that it asks for",
    }),
  },
  { description: "What one extension asks for" },
);
export type TrustCard = Static<typeof TrustCard>;

export const TrustQuestion = Type.Object(
  {
    digest: HashOf("Identifies the documents and programs that this is about; an answer names it"),
    trusted: Type.Boolean({ description: "Whether this connection is trusted" }),
    answered: Type.Boolean({ description: "Nothing waits for an answer" }),
    since: Type.Union([Type.String(), Type.Null()], {
      description: "When the person answered last, UTC, ISO 8601; null: never",
    }),
    extensions: Type.Array(TrustCard, { description: "A card for each extension" }),
    workspace: Type.Array(TrustPart, {
      description: "What the workspace's own document asks for beside its extensions",
    }),
  },
  { description: "What the workspace's documents ask a person for" },
);
export type TrustQuestion = Static<typeof TrustQuestion>;

export const TrustGrants = Type.Object(
  {
    extensions: Type.Array(
      Type.Object(
        {
          extension: Type.String({ maxLength: 256, description: "The extension's id" }),
          parts: Type.Array(Type.String({ maxLength: 4_096 }), {
            maxItems: maxGrantedParts,
            description: "Ids of the parts that are granted",
          }),
          folders: Type.Array(Type.String({ maxLength: 4_096 }), {
            maxItems: maxGrantedFolders,
            description:
              "Folders that are granted: each is a requested one or lies inside one, in exactly that spelling",
          }),
        },
        { additionalProperties: false },
      ),
      { maxItems: 1_024, description: "The extensions that may run; any other is withheld" },
    ),
    workspace: Type.Array(Type.String({ maxLength: 4_096 }), {
      maxItems: maxGrantedParts,
      description: "Ids of the parts that are granted to the workspace's own document",
    }),
  },
  {
    additionalProperties: false,
    description:
      "What of the question is granted. Everything that is not named is withheld, until another answer. Needs `digest`",
  },
);
export type TrustGrants = Static<typeof TrustGrants>;

const LineCount = (description: string) => Type.Integer({ minimum: 0, description });

export const TrustProgram = Type.Object(
  {
    digest: HashOf("Identifies the documents and programs that this is about"),
    kept: Type.Boolean({
      description: "The sources of the accepted program are kept. Where they are not, every file is `added`",
    }),
    reason: Type.Optional(Type.String({ description: "Why there is nothing to compare" })),
    files: Type.Array(
      Type.Object({
        path: Type.String({ description: "The file, relative to the extension's folder" }),
        change: Type.Enum(["added", "removed", "changed", "unchanged"], {
          description: "How it compares with the accepted program",
        }),
        added: LineCount("Lines that were added"),
        removed: LineCount("Lines that were removed"),
        diff: Type.Optional(
          Type.String({
            description:
              "Unified diff, only of the file that was asked for by its `path`; absent for a file that is not text, is too long, or has changed on the disk since it was read",
          }),
        ),
      }),
      { description: "The program's files" },
    ),
  },
  { description: "An extension's program compared with the accepted one" },
);
export type TrustProgram = Static<typeof TrustProgram>;
