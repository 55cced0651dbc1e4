// What pages ask the server for beside the stream.

// ask returns the JSON that the server answers with. An error says why there is none. Where a token is needed, the browser
// goes to the page that asks for it.
export async function ask(path) {
  let answer, got;
  try {
    answer = await fetch(path);
    const type = answer.headers.get("Content-Type") ?? "";
    if (type.startsWith("application/json")) got = await answer.json();
    else got = { error: type.startsWith("text/plain") ? (await answer.text()).trim() : `The server answers with status ${answer.status}.` };
  } catch {
    throw new Error("The server does not answer.");
  }
  if (answer.status === 401) location.assign("/assets/signin.html" + location.hash);
  if (got.error !== undefined) throw new Error(got.error);
  return got;
}
