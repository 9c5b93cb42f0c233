/** What XML 1.0 cannot hold, not even as a reference: controls, halves of pairs, two non-characters. */
const forbidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Also what a parser makes something else of (a carriage return) and what few show. */
const special = /[&<>"'\r\u007f-\u009f\u2028\u2029]/g;

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function reference(char: string): string {
  return names[char] ?? `&#${char.charCodeAt(0)};`;
}

/** Text as character data: comes back as it was, but for what XML cannot hold. */
export function xmlText(text: string): string {
  return text.replace(forbidden, '').replace(special, reference);
}

/** The same in an attribute, where a parser makes spaces of tabs and line ends. */
function attributeText(text: string): string {
  return xmlText(text).replace(/[\t\n]/g, reference);
}

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element in a line of its own: with text, with elements, or empty. `inside` is XML already. */
export function element(name: string, attributes: Attributes, inside = ''): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const list = given.map(([key, value]) => ` ${key}="${attributeText(String(value))}"`).join('');
  return inside === '' ? `<${name}${list}/>` : `<${name}${list}>${inside}</${name}>`;
}
