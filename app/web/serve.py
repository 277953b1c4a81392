"""Serves a folder on 127.0.0.1 with the headers that threads need: serve.py FOLDER [PORT] [--without-headers]."""

import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm",
                      ".js": "text/javascript"}
    headers_too = "--without-headers" not in sys.argv

    def end_headers(self):
        if self.headers_too:
            self.send_header("Cross-Origin-Opener-Policy", "same-origin")
            self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, *arguments):
        pass


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    port = int(words[1]) if len(words) > 1 else 8000
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Handler, directory=words[0]))
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    server.serve_forever()


main()
