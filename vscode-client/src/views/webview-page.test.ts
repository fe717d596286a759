import { describe, expect, it } from "vitest";
import { pageOf } from "./webview-page.ts";

const parts = {
  cspSource: "https://*.vscode-cdn.net",
  scriptUri: "https://files/x.js",
  styleUri: "https://files/x.css",
  nonce: "abc",
  title: "Lares",
};

describe("a view's page", () => {
  it("may load its own script and style, and nothing else", () => {
    const policy = /content="([^"]+)"/.exec(pageOf(parts))?.[1];
    expect(policy?.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'nonce-abc'",
      "style-src https://*.vscode-cdn.net",
      "img-src https://*.vscode-cdn.net data:",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
  });

  it("has no inline handler, style or script", () => {
    const page = pageOf(parts);
    expect(page).not.toMatch(/\son\w+=|<style|style=/);
    expect(page.match(/<script[^>]*>[^<]*/g)).toEqual(['<script nonce="abc" src="https://files/x.js">']);
  });

  it("treats its parts as text", () =>
    expect(pageOf({ ...parts, title: '"><script>alert(1)</script>' })).not.toContain("<script>alert"));
});
