import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { exampleDocuments } from "../../kernel/build/reference/documents.ts";
import { generatedTexts, readExampleDocuments, schemasFolder } from "../../kernel/build/reference/texts.ts";
import { isJsonObject } from "../../kernel/src/base/json.ts";
import { checkLares } from "../../kernel/src/documents/lares.ts";
import { checkManifest } from "../../kernel/src/documents/manifest.ts";
import type { LaresPorts } from "../../kernel/src/documents/ports.ts";
import { manifestPorts } from "../../kernel/src/documents/testing/ports.ts";
import type { Schema } from "../../kernel/build/reference/fields.ts";
import { commonCallErrors, commonRequestErrors } from "../../kernel/src/protocol/error-meanings.ts";
import { guestCalls } from "../../kernel/src/protocol/guest/v1/calls.ts";
import { guestRequests } from "../../kernel/src/protocol/guest/v1/lifecycle.ts";
import { guestNotifications } from "../../kernel/src/protocol/guest/v1/notifications.ts";
import { publishedDocumentSchemas } from "../../kernel/src/documents/published.ts";
import { publishedSchemas } from "../../kernel/src/protocol/published/published.ts";
import { kernelRequests } from "../../kernel/src/protocol/v1/kernel-requests.ts";
import { serverNotifications } from "../../kernel/src/protocol/v1/notifications.ts";
import { clientRequests } from "../../kernel/src/protocol/v1/requests.ts";
import { readExamples } from "../../kernel/build/reference/examples.ts";
import { fieldsWithoutExample } from "../support/shown-fields.ts";

test("everything generated in schemas/ matches its sources (else: npm run build:schemas)", async () => {
  for (const [name, text] of Object.entries(await generatedTexts()))
    expect(await readFile(join(schemasFolder, name), "utf8"), name).toBe(text);
});

describe("every field has a meaning", () => {
  for (const [name, schema] of Object.entries({ ...publishedSchemas(), ...publishedDocumentSchemas() }))
    test(name, () => expect(fieldsWithoutMeaning(schema as Schema)).toEqual([]));
});

/** Errors that take load, size or a failing disk: no example shows them. */
const underLoad = new Set(["LimitExceeded", "Busy", "StorageError"]);

/** Other errors that no example shows, and the test that provokes them. */
const provokedIn: Readonly<Record<string, string>> = {
  "lares/actions/approve PermissionDenied": "kernel/src/actions/service/approval.test.ts",
  "lares/actions/rebase PermissionDenied": "kernel/src/actions/service/rebase.test.ts",
  "lares/conversations/open PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/send PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/cancel PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/fork PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/compact PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/pin PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/redact PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/redact IllegalTransition": "kernel/src/minds/redacting.test.ts",
  "lares/conversations/editBlock PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/editBlock IllegalTransition": "kernel/src/minds/persons-blocks.test.ts",
  "lares/conversations/update PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/delete PermissionDenied": "kernel/src/minds/only-persons.test.ts",
  "lares/conversations/update IllegalTransition": "kernel/src/minds/conversation-service.test.ts",
  "lares/conversations/search VectorSearchNotConfigured": "kernel/src/conversations/message-vectors.test.ts",
  "lares/commands/run PermissionDenied": "kernel/src/composition/only-persons.test.ts",
  "lares/commands/run AgentError": "test/protocol/conversations.test.ts",
  "lares/models/generate ModelError": "kernel/src/services/editor-models.test.ts",
  "lares/tools/call DeadlineExceeded": "test/protocol/call-deadlines.slow.test.ts",
  "tools/call DeadlineExceeded": "test/protocol/call-deadlines.slow.test.ts",
  "jobs/task ToolError": "test/protocol/jobs-dead.slow.test.ts",
  "lares/jobs/retry IllegalTransition": "kernel/src/jobs/dead-jobs.test.ts",
  "lares/jobs/retry Conflict": "kernel/src/jobs/dead-jobs.test.ts",
  "lares/notifications/dismiss PermissionDenied": "kernel/src/composition/only-persons.test.ts",
  "lares/notifications/act PermissionDenied": "kernel/src/composition/only-persons.test.ts",
  ...Object.fromEntries(
    ["IllegalTransition", "ScopeViolation", "AgentError"].map((code) => [
      `lares/notifications/act ${code}`,
      "test/protocol/notifications.slow.test.ts",
    ]),
  ),
  "events/emit InvalidParams": "test/protocol/declared-events.test.ts",
  "blobs/write LimitExceeded": "kernel/src/agents/calls/guest-blobs.test.ts",
  "lares/asks/answer PermissionDenied": "kernel/src/asks/asks.test.ts",
  "lares/memory/query VectorSearchNotConfigured": "kernel/src/store/knowledge/search/search.test.ts",
  "lares/memory/correct PermissionDenied": "kernel/src/composition/only-persons.test.ts",
  "lares/memory/verify PermissionDenied": "test/slow/memory-sharing.test.ts",
  "lares/memory/stats PermissionDenied": "test/slow/memory-sharing.test.ts",
  "lares/memory/export PermissionDenied": "test/slow/memory-sharing.test.ts",
  "memory/search VectorSearchNotConfigured": "kernel/src/store/knowledge/search/search.test.ts",
  "tools/call AgentError": "test/protocol/tools.test.ts",
  "tools/call InvalidParams": "kernel/src/tools/keyed-calls.test.ts",
  ...Object.fromEntries(
    ["create", "get", "query", "update", "remove"].flatMap((name) =>
      ["AgentError", "InvalidDocument"].map((code) => [
        `types/${name} ${code}`,
        "kernel/src/shared-types/shared-types.test.ts",
      ]),
    ),
  ),
  "lares/tools/call InvalidParams": "test/protocol/tool-keys.slow.test.ts",
};
/** No test provokes these yet. */
const unproven: ReadonlySet<string> = new Set(["lares/actions/content Stale", "lares/actions/diff Stale"]);

/** Fields that no example has. An entry's `to` is for answers to others than clients, to whom no kernel answers yet. */
const fieldsNotShown = { protocol: ["ConversationEntry .to"], "guest-abi": [] } as const;

describe("the example documents", async () => {
  const documents = await readExampleDocuments();

  test("the kernel's own reader finds no error in them", async () => {
    const checked = [
      await checkLares(
        documents["lares.yaml"],
        "lares.yaml",
        laresPorts("workspace", documents["extension.yaml"]),
      ),
      await checkLares(
        documents["user/lares.yaml"],
        "lares.yaml",
        laresPorts("user", documents["extension.yaml"]),
      ),
      await checkManifest(documents["extension.yaml"], "extension.yaml", manifestPorts()),
    ];
    for (const { diagnostics } of checked)
      expect(diagnostics.filter(({ severity }) => severity === "error" || severity === "warning")).toEqual(
        [],
      );
  });

  test("they have every existing field", () => {
    const schemas = publishedDocumentSchemas();
    const [lares, user, extension] = exampleDocuments.map((path) => parse(documents[path]) as unknown);
    // Each of the two forms of a namespace lacks a field that is an error there, and `ai` is deprecated.
    expect(absentFields(schemas["lares.schema.json"] as Schema, [lares, user])).toEqual([
      ".shared_namespaces[].workspace",
      ".import_namespaces[].read_write",
      ".ai",
    ]);
    expect(absentFields(schemas["extension.schema.json"] as Schema, [extension])).toEqual([]);
  });
});

for (const [name, methods, common, notifications] of [
  ["protocol", { ...clientRequests, ...kernelRequests }, commonRequestErrors, serverNotifications],
  ["guest-abi", { ...guestCalls, ...guestRequests }, commonCallErrors, guestNotifications],
] as const)
  describe(`the examples of ${name}.md`, async () => {
    const { requests, notifications: told } = await readExamples(name);

    test("every method and notification has one, and nothing else has", () => {
      expect(Object.keys(requests).toSorted()).toEqual(Object.keys(methods).toSorted());
      for (const [method, examples] of Object.entries(requests))
        expect(
          examples.some(({ error }) => error === undefined),
          method,
        ).toBe(true);
      expect(Object.keys(told).toSorted()).toEqual(Object.keys(notifications).toSorted());
    });

    test("every field has a value in an example", async () => {
      const schema = publishedSchemas()[`${name}.schema.json`] as { definitions: Record<string, Schema> };
      const { missing, total } = fieldsWithoutExample(schema.definitions, await readExamples(name));
      expect(total).toBeGreaterThan(400);
      expect(missing).toEqual(fieldsNotShown[name]);
    });

    test("an error that is shown is declared by its method, or common to all", () => {
      for (const [method, examples] of Object.entries(requests)) {
        const { errors } = (methods as Record<string, { errors: object }>)[method] ?? { errors: {} };
        for (const { error } of examples) {
          if (error === undefined) continue;
          const { code } = error.data as { code: string };
          expect({ ...errors, ...common }, `${method} ${code}`).toHaveProperty(code);
        }
      }
    });

    test("an error that is declared is shown, or provoked by another test", async () => {
      for (const [method, { errors }] of Object.entries(methods))
        for (const code of Object.keys(errors)) {
          const said = `${method} ${code}`;
          const isShown = requests[method]?.some(
            ({ error }) => (error?.data as { code?: unknown })?.code === code,
          );
          if (isShown === true || underLoad.has(code) || unproven.has(said)) continue;
          expect(provokedIn, said).toHaveProperty([said]);
          const text = await readFile(join(schemasFolder, "..", provokedIn[said] ?? ""), "utf8");
          expect(text, said).toContain(code);
        }
    });
  });

/** Where a schema names a field and does not say what it is. */
function fieldsWithoutMeaning(root: Schema): string[] {
  const { definitions = {} } = root as { definitions?: Record<string, Schema> };
  const missing: string[] = [];
  const look = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === "properties")
        for (const [name, field] of Object.entries(each as Record<string, Schema | boolean>)) {
          if (typeof field === "boolean") continue;
          const target = definitions[field.$ref?.slice("#/definitions/".length) ?? ""];
          if ((field.description ?? target?.description ?? "") === "") missing.push(`${path}.${name}`);
        }
      if (key !== "examples" && key !== "default") look(each, `${path}/${key}`);
    }
  };
  look(root, "");
  return missing;
}

/** Fields of a document's schema that none of these values has. */
function absentFields(schema: Schema, values: readonly unknown[], path = ""): string[] {
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const given = values.flatMap((value) => (isJsonObject(value) && name in value ? [value[name]] : []));
    return given.length === 0 ? [`${path}.${name}`] : absentFields(field, given, `${path}.${name}`);
  });
  const items = schema.items === undefined ? [] : absentFields(schema.items, values.flat(), `${path}[]`);
  const each =
    schema.properties === undefined && typeof schema.additionalProperties === "object"
      ? absentFields(
          schema.additionalProperties,
          values.filter(isJsonObject).flatMap((value) => Object.values(value)),
          `${path}.*`,
        )
      : [];
  // For alternatives, takes the form that is shown best.
  const [variants = []] = (schema.anyOf ?? [])
    .filter((variant) => variant.properties !== undefined)
    .map((variant) => absentFields(variant, values, path))
    .toSorted((left, right) => left.length - right.length);
  return [...fields, ...items, ...each, ...variants];
}

/** An environment in which every folder exists, and an extension with this manifest is found everywhere. */
function laresPorts(layer: LaresPorts["layer"], manifest: string): LaresPorts {
  return {
    layer,
    folderState: () => "folder",
    async findExtension({ id = "dev.example.photos" }) {
      const text = manifest.replace("id: dev.example.photos", `id: ${id}`);
      const { value } = await checkManifest(text, "extension.yaml", manifestPorts());
      if (value === null) throw new Error("The example manifest is not valid.");
      return { state: "found", file: "extension.yaml", manifest: value };
    },
  };
}
