"""Writes a Python client of an OpenAPI document: one method per operation, from the standard library.

python3 generate.py openapi.json > client.py
"""

import json
import keyword
import re
import sys

HEADER = '''"""Generated from an OpenAPI document by generate.py."""

import json
import urllib.error
import urllib.parse
import urllib.request


class ApiError(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text}")
        self.status = status
        self.text = text


class Client:
    def __init__(self, url, tokens=None):
        self.url = url
        self.tokens = tokens or {}

    def _call(self, method, path, query, body, scheme, statuses):
        query = {name: value for name, value in query.items() if value is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        headers = {}
        if scheme is not None:
            headers["authorization"] = "Bearer " + self.tokens[scheme]
        data = None
        if method == "POST":
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code not in statuses:
                raise
            raise ApiError(error.code, json.loads(error.read())) from None
'''


def snake(name):
    text = re.sub(r"\W", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()
    return text + "_" if keyword.iskeyword(text) else text


def method_of(method, path, operation):
    parameters = operation.get("parameters", [])
    required = [p["name"] for p in parameters if p["required"]]
    optional = [p["name"] for p in parameters if not p["required"]]
    in_path = [p["name"] for p in parameters if p["in"] == "path"]
    has_body = "requestBody" in operation
    arguments = ["self", *map(snake, required), *(["body"] if has_body else [])]
    arguments += [f"{snake(name)}=None" for name in optional]
    query = [name for name in required + optional if name not in in_path]
    scheme = next((name for one in operation["security"] for name in one), None)
    statuses = sorted(int(status) for status in operation["responses"] if status != "200")
    text = re.sub(r"\{(\w+)\}", lambda found: "{urllib.parse.quote(" + snake(found[1]) + ")}", path)
    fields = ", ".join(f'"{name}": {snake(name)}' for name in query)
    return f'''
    def {snake(operation["operationId"])}({", ".join(arguments)}):
        """{operation["summary"]}"""
        return self._call(
            "{method.upper()}", f"{text}", {{{fields}}}, {"body" if has_body else "{}"},
            {scheme!r}, {statuses!r},
        )
'''


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        document = json.load(file)
    print(HEADER, end="")
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            print(method_of(method, path, operation), end="")


main()
