import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embeddedXmp, maxXmpBytes, readXmp } from "./xmp.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const xmp = (inside: string, before = ""): Uint8Array =>
  bytes(`<?xml version="1.0"?>${before}<x:xmpmeta xmlns:x="adobe:ns:meta/">
  <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
    xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:p="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
  ${inside}</rdf:Description></rdf:RDF></x:xmpmeta>`);
const bag = (name: string, ...items: readonly string[]): string =>
  `<${name}><rdf:Bag>${items.map((item) => `<rdf:li>${item}</rdf:li>`).join("")}</rdf:Bag></${name}>`;
const regions = (...items: readonly string[]): string =>
  `<mwg-rs:Regions rdf:parseType="Resource">${bag("mwg-rs:RegionList", ...items)}</mwg-rs:Regions>`;
const nothing = { keywords: [], people: [] };

describe("an XMP file", () => {
  it("says keywords, and people by face regions in each way that RDF may be written", () => {
    const said = xmp(
      bag("dc:subject", "beach", "Zo\u0065\u0308", "a &amp; b", "<![CDATA[beach]]>") +
        bag("lr:hierarchicalSubject", "Italy|Rome") +
        bag("p:PersonInImage", "Grace") +
        regions(
          `<rdf:Description mwg-rs:Name="Ada" mwg-rs:Type="Face"/>`,
          `<rdf:Description mwg-rs:Type="Face"><mwg-rs:Name>Bo &lt;b&gt;</mwg-rs:Name></rdf:Description>`,
          `<mwg-rs:Name>Cy</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>`,
          `<rdf:Description mwg-rs:Name="Rex" mwg-rs:Type="Pet"/>`,
          `<rdf:Description mwg-rs:Type="Face"/>`,
        ),
    );
    expect(readXmp(said)).toEqual({
      keywords: ["beach", "Zoë", "a & b", "Italy/Rome"],
      people: ["Grace", "Ada", "Bo <b>", "Cy"],
    });
  });

  it("is read by namespaces, whatever their prefixes", () => {
    const said = `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><r:Description><subject xmlns="http://purl.org/dc/elements/1.1/"><r:Seq><r:li>one</r:li></r:Seq></subject><dc:subject xmlns:dc="other"><r:Bag><r:li>two</r:li></r:Bag></dc:subject></r:Description></r:RDF>`;
    expect(readXmp(bytes(said))).toEqual({ keywords: ["one"], people: [] });
  });
});

describe("a hostile file says nothing", () => {
  const levels = Array.from({ length: 10 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join(
    "",
  );
  const cases: [name: string, file: Uint8Array][] = [
    ["a billion laughs", xmp(bag("dc:subject", "&l10;"), `<!DOCTYPE x [<!ENTITY l0 "lol">${levels}]>`)],
    [
      "an entity of another file",
      xmp(bag("dc:subject", "&e;"), `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>`),
    ],
    ["10 MB", xmp(bag("dc:subject", "a".repeat(10_000_000)))],
    ["many thousands of levels", xmp("<a>".repeat(50_000))],
    ["many thousands of elements", xmp("<dc:a/>".repeat(30_000))],
    ["UTF-16", new Uint8Array(Buffer.from("\ufeff<a/>", "utf16le"))],
    [
      "Latin-1",
      new Uint8Array(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>Zo\u00eb</a>', "latin1")),
    ],
    ["no XML", bytes("not a sidecar")],
    ["cut in the middle", xmp(bag("dc:subject", "beach")).subarray(0, -30)],
    ["nothing", new Uint8Array()],
  ];
  it.each(cases)("%s", (_, file) => expect(readXmp(file)).toEqual(nothing));

  it("names have no characters that hide or reverse, one line, and a length", () => {
    const said = xmp(
      bag("dc:subject", "x".repeat(101), " \u200b ", "$(rm -rf ~)\n\n; now") +
        regions('<rdf:Description mwg-rs:Name="Ada \u202egnp.exe\u2066&#x7;!" mwg-rs:Type="Face"/>'),
    );
    // A control character is not even XML.
    expect(readXmp(said)).toEqual(nothing);
    expect(readXmp(bytes(new TextDecoder().decode(said).replace("&#x7;", "&#x202e;")))).toEqual({
      keywords: ["$(rm -rf ~) ; now"],
      people: ["Ada gnp.exe !"],
    });
  });

  it("a text that is far too long is none, before anything is made of it", () => {
    const marks = "a\u0300\u0323".repeat(600);
    const bag = (name: string, text: string): string =>
      `<${name}><rdf:Bag><rdf:li>${text}</rdf:li><rdf:li>sea</rdf:li></rdf:Bag></${name}>`;
    const xmp = `<x xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/">${bag("dc:subject", marks)}${bag("lr:hierarchicalSubject", "|".repeat(5000))}</x>`;
    expect(readXmp(new TextEncoder().encode(xmp)).keywords).toEqual(["sea"]);
  });

  it("and their number is bounded", () => {
    const many = Array.from({ length: 1000 }, (_, n) => `w${n}`);
    expect(readXmp(xmp(bag("dc:subject", ...many) + bag("p:PersonInImage", ...many)))).toMatchObject({
      keywords: { length: 200 },
      people: { length: 100 },
    });
  });

  it("no bytes make it throw", () => {
    const whole = xmp(regions(`<rdf:Description mwg-rs:Name="Ada"/>`));
    fc.assert(
      fc.property(fc.nat(whole.length), fc.uint8Array({ maxLength: 20 }), (at, change) => {
        const damaged = Uint8Array.from(whole);
        damaged.set(change.subarray(0, Math.max(0, whole.length - at)), at);
        expect(readXmp(damaged).people.length).toBeLessThan(3);
        expect(readXmp(change).people).toEqual([]);
      }),
    );
    expect(maxXmpBytes).toBeLessThan(1024 * 1024);
  });
});

describe("XMP in a picture", () => {
  const said = new TextDecoder().decode(xmp(bag("dc:subject", "beach"))).replace(/^<[?]xml[^>]*>/, "");
  const packet = bytes(
    `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>${said}${" ".repeat(50)}\n<?xpacket end="w"?>`,
  );
  const latin = (text: string): Buffer => Buffer.from(text, "latin1");
  const segment = (marker: number, ...parts: readonly Uint8Array[]): Buffer => {
    const body = Buffer.concat(parts);
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(body.length + 2, 2);
    return Buffer.concat([head, body]);
  };
  const jpeg = (...segments: readonly Uint8Array[]): Buffer =>
    Buffer.concat([latin("\xff\xd8"), ...segments, segment(0xda, latin("scan")), latin("\xff\xd9")]);
  const chunk = (type: string, ...parts: readonly Uint8Array[]): Buffer => {
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return Buffer.concat([length, latin(type), body, Buffer.alloc(4)]);
  };
  const png = (...chunks: readonly Uint8Array[]): Buffer =>
    Buffer.concat([latin("\x89PNG\r\n\x1a\n"), chunk("IHDR", Buffer.alloc(13)), ...chunks, chunk("IEND")]);
  const adobe = latin("http://ns.adobe.com/xap/1.0/\0");

  it("of a JPEG is its APP1 segment of Adobe's name, behind EXIF and before the scan", () => {
    const picture = jpeg(segment(0xe1, latin("Exif\0\0"), Buffer.alloc(100)), segment(0xe1, adobe, packet));
    expect(readXmp(embeddedXmp(picture) ?? bytes(""))).toEqual({ keywords: ["beach"], people: [] });
    expect(embeddedXmp(jpeg(segment(0xe1, latin("Exif\0\0"))))).toBeUndefined();
    expect(embeddedXmp(Buffer.concat([jpeg(), segment(0xe1, adobe, packet)]))).toBeUndefined();
    expect(embeddedXmp(picture.subarray(0, 300))).toBeUndefined();
  });

  it("of a PNG is its uncompressed text chunk of Adobe's name", () => {
    const text = (compressed: number) =>
      chunk("iTXt", latin(`XML:com.adobe.xmp\0`), Buffer.from([compressed, 0]), latin("en\0\0"), packet);
    expect(readXmp(embeddedXmp(png(text(0))) ?? bytes(""))).toEqual({ keywords: ["beach"], people: [] });
    expect(embeddedXmp(png(text(1)))).toBeUndefined();
    expect(embeddedXmp(png(text(0)).subarray(0, 150))).toBeUndefined();
    expect(embeddedXmp(png())).toBeUndefined();
  });

  it("of bytes that only begin like a picture is none, and reading them ends", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("\xff\xd8\xff\xe1", "\x89PNG\r\n\x1a\n"),
        fc.uint8Array(),
        (begin, rest) => {
          const found = embeddedXmp(Buffer.concat([latin(begin), rest]));
          expect(found === undefined || found.length <= rest.length).toBe(true);
        },
      ),
    );
    expect(embeddedXmp(Buffer.alloc(0))).toBeUndefined();
  });
});
