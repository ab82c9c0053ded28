// Reads what a page holds in packed form: base64 of deflated JSON.
async function unpack(id) {
  const packed = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(packed, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}
