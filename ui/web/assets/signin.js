// The page for signing in: the token goes to the server in a header, and comes back as a cookie that no script reads.
const said = document.getElementById("said");

document.getElementById("signin").addEventListener("submit", async (event) => {
  event.preventDefault();
  said.textContent = "";
  const token = document.getElementById("token").value.trim();
  try {
    const answer = await fetch("/session", { headers: { Authorization: "Bearer " + token } });
    if (answer.ok) {
      location.assign("/" + location.hash);
      return;
    }
    said.textContent = await answer.text();
  } catch {
    said.textContent = "The server does not answer. Try again.";
  }
});
