#pragma once

// How Dear ImGui is compiled here (its IMGUI_USER_CONFIG).

#define IMGUI_DISABLE_OBSOLETE_FUNCTIONS
#define IMGUI_ENABLE_FREETYPE
#define IMGUI_DEFINE_MATH_OPERATORS
#define IMGUI_USE_WCHAR32       // code points beyond 16 bits, such as mathematical letters
#define ImDrawIdx unsigned int  // large draw lists

#define IMGUI_ENABLE_TEST_ENGINE
#define IMGUI_TEST_ENGINE_ENABLE_STD_FUNCTION 1
#define IMGUI_TEST_ENGINE_ENABLE_COROUTINE_STDTHREAD_IMPL 1
#define IMGUI_TEST_ENGINE_ENABLE_CAPTURE 0
