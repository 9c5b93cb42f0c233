// A service in which every run has passed. Prints its URL, and ends when its standard input ends.
import { createServer } from 'node:http';

const status = JSON.stringify({
  state: 'completed',
  failed: 0,
  blocked: 0,
  appUrl: 'https://app.example.test/runs/run_1',
});
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(status);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().once('end', () => process.exit(0));
