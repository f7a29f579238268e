// The header in C++.
#include <manganese.h>

#include <cstdio>
#include <string>
#include <vector>

int main()
{
    const std::string text = "hello to oneself";
    std::vector<char> into(100);
    mgn_conn own;
    mgn_request request;
    mgn_status status;
    iovec out = {const_cast<char *>(text.data()), text.size()};
    if (mgn_init() != MGN_OK || mgn_open(nullptr, 0, 0, &own) != MGN_OK || mgn_isend(own, 0, &out, 1, 0, &request) != MGN_OK
        || mgn_recv(MGN_ANY, into.data(), into.size(), &status) != MGN_OK || mgn_wait(&request, -1, nullptr) != MGN_OK) {
        std::fprintf(stderr, "%s\n", mgn_last_error());
        return 1;
    }
    std::printf("%.*s\n", static_cast<int>(status.length), into.data());
    return mgn_finalize();
}
