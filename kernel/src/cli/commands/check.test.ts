import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { protectedByName } from "../../policy/protected.ts";
import { testShell } from "../testing/test-shell.ts";

const shell = testShell();
const { lares } = shell;

describe("check", () => {
  const finding = {
    line: 3,
    column: 5,
    code: "unknown-field",
    message: "There is no field grantz.",
  } as const;

  it("prints one line per fault and exits 1 on an error", async () => {
    await writeFile(join(shell.folder, "lares.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve([{ ...finding, file, severity: "error" } as const]);
    expect(await lares(["check", shell.folder], { checkDocument })).toBe(1);
    expect(shell.output).toBe(
      `${join(shell.folder, "lares.yaml")}:3:5  unknown-field  There is no field grantz.\n`,
    );
    expect(shell.errors).toContain("1 error, 0 warnings in 1 document");
  });

  it("a warning is not a failure; --format json is one object", async () => {
    await writeFile(join(shell.folder, "lares.yaml"), "");
    const checkDocument = (file: string) =>
      Promise.resolve([{ ...finding, file, severity: "warning" } as const]);
    const explain = () =>
      Promise.resolve({
        values: [
          {
            key: "approvals.auto_approve_below",
            value: 0.2,
            source: "workspace",
            place: "lares.yaml:3",
          } as const,
        ],
        environmentFaults: ["LARES_TRACE_LEVL is not a setting."],
        protected: protectedByName,
      });
    expect(
      await lares(["check", shell.folder, "--format", "json", "--explain"], { checkDocument, explain }),
    ).toBe(0);
    expect(JSON.parse(shell.output)).toMatchObject({
      ok: true,
      findings: [{ line: 3, severity: "warning" }],
      configuration: [{ source: "workspace" }],
      environment_faults: ["LARES_TRACE_LEVL is not a setting."],
      protected: protectedByName,
    });
    shell.output = "";
    expect(await lares(["check", shell.folder, "--explain"], { checkDocument, explain })).toBe(0);
    // Names that are asked about each time are shown with the reason.
    expect(shell.output).toMatch(
      /Asked each time[^]*Shells and editors read these when they start\.\n[^\n]+\S/,
    );
    expect(shell.output).toContain("node_modules/");
    expect(shell.errors).toContain("LARES_TRACE_LEVL is not a setting.");
  });
});
